// Reports in the console: what was paid, summed up by days in the reader's time zone, and the files for download.
import type { Page } from "playwright-core";
import { beforeAll, expect, inject, it } from "vitest";
import { enter } from "./console-entry.ts";
import { EXPECTED_IN_CONSOLE, findings, untilPage } from "./console-harness.ts";
import { openMerchant } from "./console-merchant.ts";
import {
  type Bill,
  choose,
  coinRows,
  downloaded,
  expectedCoins,
  expectedPeriods,
  expectedReceived,
  openReports,
  periodRows,
  receivedShown,
  sellOverMonths,
} from "./console-reports-harness.ts";
import { describeInBrowser, openShop, type PageShop, useBrowser } from "./harness.ts";
import { emailOf } from "./testbed.ts";

const DAY_MS = 24 * 3_600_000;
/** A time zone that is five and a half hours ahead in summer and winter, so that its days differ from UTC's. */
const QUIET = { reducedMotion: "reduce", timezoneId: "Asia/Kolkata", alsoSaid: EXPECTED_IN_CONSOLE } as const;
const dayIn = (ms: number) => new Date(ms + 5.5 * 3_600_000).toISOString().slice(0, 10);

/** Texts that a spreadsheet would run as formulas, or that look like the end of a cell, or like an id at the start of a line. */
const HOSTILE = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", 'say "hi", twice', "two\nlines", `",inv_${"0".repeat(26)},"`];

describeInBrowser("reports", () => {
  const browsing = useBrowser();
  let shop: PageShop;
  let bills: readonly Bill[];
  const range = () => ({ from: dayIn(Date.now() - 75 * DAY_MS), to: dayIn(Date.now()) });

  beforeAll(async () => {
    shop = await openShop(["USDT", "ETH"]);
    bills = await sellOverMonths(inject("testbed"), shop);
  });

  async function visit() {
    const { page } = await browsing.visit(QUIET);
    await enter(page.context(), shop.baseUrl, emailOf(shop.merchantId, "OWNER"));
    return page;
  }

  it("show what was paid by day, week, month and coin, with days in the reader's time zone", async () => {
    const page = await visit();
    const { from, to } = range();
    await openReports(page, shop, { from, to });
    await expect.poll(() => receivedShown(page)).toEqual(expectedReceived(bills));
    await expect.poll(() => coinRows(page)).toEqual(expectedCoins(bills));
    expect(await findings(page)).toEqual([]);
    for (const [label, by] of [
      ["Weeks", "week"],
      ["Months", "month"],
      ["Days", "day"],
    ] as const) {
      await choose(page, label);
      await page.waitForURL((url) => url.searchParams.get("by") === by);
      await page.getByRole("heading", { name: `By ${by}` }).waitFor();
      await expect
        .poll(() => periodRows(page, by), { message: by })
        .toEqual(expectedPeriods(bills, { by, from, to, dayIn }));
    }
  });

  it("cover the days in the URL, store newly chosen days there, and show a message if nothing was received", async () => {
    const page = await visit();
    const [first] = bills;
    const day = dayIn(Date.parse(first?.receivedAt ?? ""));
    await openReports(page, shop, { from: day, to: day });
    const ofDay = bills.filter(({ receivedAt }) => dayIn(Date.parse(receivedAt)) === day);
    await expect.poll(() => receivedShown(page)).toEqual(expectedReceived(ofDay));
    await choosePreset(page, "Choose dates");
    await page.getByLabel("From", { exact: true }).fill("2020-02-01");
    await page.getByLabel("To", { exact: true }).fill("2020-02-29");
    await page.waitForURL(/from=2020-02-01&to=2020-02-29/);
    await page.getByText("Nothing received on these days").waitFor();
    await page.reload();
    await untilPage(page, "Reports");
    expect(await page.getByLabel("From", { exact: true }).inputValue()).toBe("2020-02-01");
    await page.getByText("Nothing received on these days").waitFor();
    const file = await downloaded(page, "Export payments");
    expect(file.name).toBe("payments-2020-02-01-to-2020-02-29.csv");
    expect(file.text.split("\r\n")).toHaveLength(2);
    // The date is typed part by part; the year is incomplete before its fourth digit.
    await page.getByLabel("From", { exact: true }).focus();
    await page.keyboard.type("03152018");
    await page.waitForURL(/from=2018-03-15/);
    await page.getByRole("alert").getByText("At most 400 days").waitFor();
    await page.getByRole("button", { name: "Export payments" }).waitFor();
    await page.getByLabel("To", { exact: true }).fill("2018-03-14");
    await page.getByRole("alert").getByText("The end date must not be before the start date").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Export payments" }).count()).toBe(0);
    expect(await findings(page)).toEqual([]);
  });

  it("can be limited to a predefined range of days, such as last month", async () => {
    const page = await visit();
    await openReports(page, shop, { from: "2020-02-01", to: "2020-02-29" });
    const today = dayIn(Date.now());
    await choosePreset(page, "Today");
    await page.waitForURL((url) => url.search.includes(`from=${today}&to=${today}`));
    await page.getByLabel("From", { exact: true }).waitFor({ state: "detached" });
    await choosePreset(page, "Last month");
    await page.waitForURL(
      ({ searchParams }) => /-01$/.test(searchParams.get("from") ?? "") && searchParams.get("to") !== today,
    );
    await page.reload();
    await untilPage(page, "Reports");
    expect(await page.getByRole("combobox", { name: "Days" }).inputValue()).toBe("Last month");
    expect(await findings(page)).toEqual([]);
  });

  it("show a message and no tables to a merchant that has received nothing", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page, { isBare: true });
    await page.goto(`/console/${merchant.id}/reports`);
    await untilPage(page, "Reports");
    await page.getByText("Nothing received on these days").waitFor();
    expect(await page.getByRole("table").count()).toBe(0);
    expect(await findings(page)).toEqual([]);
  });

  it("export the payments of the displayed days as CSV and JSON lines, whose sums equal those on the page", async () => {
    const page = await visit();
    const { from, to } = range();
    await openReports(page, shop, { from, to });
    const csv = await downloaded(page, "Export payments");
    expect(csv.name).toBe(`payments-${from}-to-${to}.csv`);
    expect(csv.text).toContain("\uFEFFid,receivedAt,status,");
    await choose(page, "JSON lines");
    const lines = await downloaded(page, "Export payments");
    const payments = lines.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(payments.map(({ txHash }) => txHash).toSorted()).toEqual(bills.map(({ txHash }) => txHash).toSorted());
    for (const { txHash } of payments) expect(csv.text.split(txHash)).toHaveLength(2);
    const sold = payments.map(({ fiatAmount, ...of }) => ({ ...of, value: fiatAmount }));
    expect(expectedReceived(sold)).toEqual(await receivedShown(page));
  });

  it("export the statement of a month, with the same sums as the page shows for that month", async () => {
    const page = await visit();
    const [first] = bills;
    const month = dayIn(Date.parse(first?.receivedAt ?? "")).slice(0, 7);
    const [year, number] = month.split("-").map(Number);
    const to = new Date(Date.UTC(year ?? 0, number ?? 0, 0)).toISOString().slice(0, 10);
    await openReports(page, shop, { from: `${month}-01`, to });
    await choose(page, "JSON lines");
    await page.getByRole("combobox", { name: "Monthly statement" }).click();
    const name = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric" }).format(Date.parse(to));
    await page.getByRole("option", { name }).click();
    const file = await downloaded(page, "Export statement");
    expect(file.name).toBe(`statement-${month}.jsonl`);
    const lines = file.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const of = (kind: string) => lines.filter(({ line }) => line === kind);
    const inMonth = bills.filter(({ receivedAt }) => dayIn(Date.parse(receivedAt)).startsWith(month));
    // Lines are in the order in which payments were recorded, which may differ from the order in which they were made.
    const hashesOf = (list: readonly { readonly txHash: string }[]) => list.map(({ txHash }) => txHash).toSorted();
    expect(hashesOf(of("PAYMENT"))).toEqual(hashesOf(inMonth));
    const money = ({ fiatAmount, currency }: (typeof lines)[number]) =>
      new Intl.NumberFormat("en-US", { style: "currency", currency, maximumFractionDigits: 18 }).format(fiatAmount);
    expect(of("CURRENCY_TOTAL").map(money).toSorted()).toEqual(await receivedShown(page));
    const shown = await coinRows(page);
    expect(of("COIN_TOTAL").length).toBeGreaterThanOrEqual(shown.length);
    for (const { coin, values } of shown) {
      const sums = of("COIN_TOTAL").filter(({ cryptocurrency }) => coin.startsWith(cryptocurrency));
      expect(sums.map(money).toSorted()).toEqual(values);
    }
  });

  it("escape hostile names so that no spreadsheet runs them as formulas and no name breaks a line", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page, { isBare: true });
    for (const name of HOSTILE)
      await merchant.call("POST", "/invoices", { name, externalId: name, rawAmount: 1, paymentMethods: [] });
    await page.goto(`/console/${merchant.id}/reports`);
    await untilPage(page, "Reports");
    const { text } = await downloaded(page, "Export invoices");
    for (const cell of ["'=HYPERLINK(1)", "'+1", "'-1", "'@SUM(1)", '"say ""hi"", twice"', '"two\nlines"'])
      expect(text).toContain(`,${cell},${cell},`);
    expect(text).toContain(`,""",inv_${"0".repeat(26)},""",`);
    await choose(page, "JSON lines");
    const lines = (await downloaded(page, "Export invoices")).text.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).name)).toEqual(HOSTILE);
  });
});

async function choosePreset(page: Page, name: string): Promise<void> {
  await page.getByRole("combobox", { name: "Days" }).click();
  await page.getByRole("option", { name }).click();
}
