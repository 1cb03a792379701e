// The Home page in a browser: what was received, what needs attention, and the first steps.
import { expect, it } from "vitest";
import { EXPECTED_IN_CONSOLE, findings, freshAddress, untilPage } from "./console-harness.ts";
import { addInvoice, addWallet, type Member, newcomerAtHome, ownerAtHome, payInFull } from "./console-member.ts";
import { describeInBrowser, mine, send, until, useBrowser } from "./harness.ts";

const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;
const NOTICED_WITHIN_MS = 120_000;

describeInBrowser("Home", () => {
  const browsing = useBrowser();

  async function atHome(arrive = ownerAtHome): Promise<Member> {
    const { page } = await browsing.visit(QUIET);
    return arrive(page, freshAddress());
  }

  it("shows the amounts received by day, also as a table, and counts the invoices", async () => {
    const member = await atHome(newcomerAtHome);
    const { page } = member;
    await page.getByText("Nothing received in this period").waitFor();
    await addWallet(member);
    await payInFull(member, await addInvoice(member, { name: "Order 1001" }));
    await addInvoice(member, { name: "Order 1002" });
    await page.reload();
    await untilPage(page, "Home");
    const received = page.getByRole("region", { name: "Received" });
    await received.getByText("$25.00", { exact: true }).waitFor();
    const days = page.getByRole("region", { name: "By day" });
    await days.getByRole("img", { name: /^Received by day, in USD: payments on 1 of 30 days, .*\$25\.00$/ }).waitFor();
    expect(await findings(page)).toEqual([]);
    await days.getByRole("button", { name: "Show as a table" }).click();
    await days.getByRole("row").filter({ hasText: "$25.00" }).waitFor();
    await page.getByRole("region", { name: "By coin" }).getByText("USDT on ETH").waitFor();
    await page.getByText("Today", { exact: true }).click();
    await page.waitForURL(/days=1/);
    await page.getByText("$0.00 yesterday").waitFor();
    await page.getByRole("link", { name: "Paid", exact: true }).click();
    await untilPage(page, "Invoices");
    await expect.poll(() => page.locator(".row-link").allTextContents()).toEqual(["Order 1001"]);
  });

  it("lists what needs attention, with a link to each item", async () => {
    const member = await atHome();
    const { page, merchantId } = member;
    const address = await addWallet(member);
    // Two invoices are pending there, so that neither is credited for being the only one.
    await addInvoice(member, {});
    await addInvoice(member, {});
    await send("USDT", "3.21", address);
    const noticed = async () => {
      await mine();
      return member.call<{ readonly data: readonly { readonly type: string }[] }>("GET", "/attention");
    };
    await until(noticed, ({ data }) => data.some(({ type }) => type === "PAYMENT_UNMATCHED"), NOTICED_WITHIN_MS);
    await page.reload();
    await untilPage(page, "Home");
    const strip = page.getByRole("region", { name: "Needs attention" });
    expect((await strip.boundingBox())?.height).toBeLessThan(80);
    await strip.getByRole("button", { name: "1 · Unmatched payments" }).press("Enter");
    const need = page.getByRole("article", { name: "Unmatched payments" });
    const link = need.getByRole("link", { name: "3.21 USDT on ETH" });
    expect(await link.getAttribute("href")).toContain(`/console/${merchantId}/payments/pay_`);
    expect(await findings(page)).toEqual([]);
  });
});
