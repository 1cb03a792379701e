// Shared by the tests of reports: sales over some months, what the page should show about them, and what it shows.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { assetOn } from "../../src/chains/registry/networks.ts";
import { formatMicros, formatUnits, parseUnits } from "../../src/lib/money.ts";
import { network } from "../support/named-network.ts";
import { untilPage } from "./console-harness.ts";
import { shiftBack } from "./console-month.ts";
import { type Code, mine, mineUntil, ON_ETH, type PageShop, send } from "./harness.ts";
import type { Testbed } from "./testbed.ts";

type Paid = Exclude<Code, "BTC">;

/** A paid invoice and its payment. */
export interface Bill {
  readonly cryptocurrency: string;
  /** The amount that was sent, in whole coins. */
  readonly amount: string;
  readonly currency: string;
  /** The amount that was credited, in the currency. */
  readonly value: string;
  readonly txHash: string;
  readonly receivedAt: string;
  readonly createdAt: string;
}

const DAY_MS = 24 * 3_600_000;
const QUARTER_MS = 15 * 60_000;

interface Order {
  readonly code: Paid;
  readonly rawAmount: number;
  readonly currency: string;
}

/** The sales of one day, and the number of days until the next. Some times are on different days in UTC and in the reader's zone. */
const SALES: readonly { readonly orders: readonly Order[]; readonly daysLater: number }[] = [
  {
    orders: [
      { code: "USDT", rawAmount: 24.9, currency: "USD" },
      { code: "ETH", rawAmount: 119, currency: "EUR" },
    ],
    daysLater: 45.5,
  },
  { orders: [{ code: "USDT", rawAmount: 1_289.5, currency: "USD" }], daysLater: 3.25 },
  { orders: [{ code: "ETH", rawAmount: 42, currency: "USD" }], daysLater: 0.25 },
  {
    orders: [
      { code: "USDT", rawAmount: 8, currency: "EUR" },
      { code: "USDT", rawAmount: 75.55, currency: "USD" },
    ],
    daysLater: 9,
  },
  { orders: [{ code: "USDT", rawAmount: 18, currency: "USD" }], daysLater: 0 },
];

interface PaymentFacts {
  readonly txHash: string;
  readonly amount: string;
  readonly fiatAmount: string;
  readonly receivedTxAt: string;
}

/** The sales, oldest first. Customers pay on the shared chain; earlier sales are moved into the past. */
export async function sellOverMonths(testbed: Testbed, shop: PageShop): Promise<readonly Bill[]> {
  const sold: { readonly id: string; readonly order: Order; readonly sent: string }[] = [];
  for (const { orders, daysLater } of SALES) {
    for (const order of orders) {
      const { code, ...fields } = order;
      const invoice = await shop.createInvoice({ ...fields, name: "Order", paymentMethods: [ON_ETH(code)] });
      const [method] = invoice.paymentMethods;
      if (method?.address == null || method.amount === null) throw new Error(`${invoice.id} asks for nothing`);
      await send(code, method.amount, method.address);
      await mine();
      sold.push({ id: invoice.id, order, sent: method.amount });
    }
    for (const { id } of sold.slice(-orders.length)) await mineUntil(shop, { id }, "PAID");
    if (daysLater > 0) shiftBack(testbed, shop.merchantId, Math.round((daysLater * DAY_MS) / QUARTER_MS) * QUARTER_MS);
  }
  return Promise.all(
    sold.map(async ({ id, order: { code, currency }, sent }) => {
      const { createdAt, payments } = await shop.call<{
        readonly createdAt: string;
        readonly payments: readonly PaymentFacts[];
      }>("GET", `/invoices/${id}`);
      const [payment] = payments;
      if (payment === undefined || payments.length > 1) throw new Error(`${id} has ${payments.length} payments`);
      const { txHash, fiatAmount: value, receivedTxAt: receivedAt } = payment;
      return { cryptocurrency: code, amount: sent, currency, value, txHash, receivedAt, createdAt };
    }),
  );
}

export async function openReports(
  page: Page,
  { merchantId }: Pick<PageShop, "merchantId">,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await page.goto(`/console/${merchantId}/reports?from=${from}&to=${to}`);
  await untilPage(page, "Reports");
  await page.getByRole("region", { name: "Received" }).waitFor();
}

/** Selects the choice with this label in a group of radio buttons. */
export async function choose(page: Page, label: string): Promise<void> {
  await page.getByRole("radiogroup").getByText(label, { exact: true }).click();
}

/** The file that the button downloads. */
export async function downloaded(page: Page, button: string) {
  const arriving = page.waitForEvent("download");
  await page.getByRole("button", { name: button }).click();
  const download = await arriving;
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}

// ---- what the page shows

export async function receivedShown(page: Page): Promise<readonly string[]> {
  // The first amount is the total. Only visible lines count.
  const [text = ""] = await page.getByRole("region", { name: "Received" }).locator(".numbers").allInnerTexts();
  return linesOf(text);
}

/** Lines of amounts, sorted. */
function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .toSorted();
}

async function cellsOf(page: Page, section: string): Promise<readonly (readonly string[])[]> {
  const rows = page.getByRole("region", { name: section, exact: true }).locator("tbody tr");
  return Promise.all((await rows.all()).map((row) => row.locator("td").allInnerTexts()));
}

export async function periodRows(page: Page, by: string) {
  const rows = await cellsOf(page, `By ${by}`);
  return rows.map(([name, created, paid, payments, received = ""]) => {
    return {
      name,
      created: Number(created),
      paid: Number(paid),
      payments: Number(payments),
      values: linesOf(received),
    };
  });
}

export async function coinRows(page: Page) {
  const rows = await cellsOf(page, "By coin");
  return rows.map(([name = "", amount, values = ""]) => {
    const [coin = "", payments] = name.split("\n").filter((line) => line !== "");
    return { coin, payments, amount, values: linesOf(values) };
  });
}

// ---- what it should show

type Valued = Pick<Bill, "currency" | "value">;

export function expectedReceived(bills: readonly Valued[]): readonly string[] {
  return [...Map.groupBy(bills, ({ currency }) => currency)].map(([currency, of]) => money(of, currency)).toSorted();
}

function money(bills: readonly Valued[], currency: string): string {
  const micros = bills.reduce((sum, { value }) => sum + BigInt(value.replace(".", "")), 0n);
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency, maximumFractionDigits: 18 });
  return format.format(formatMicros(micros) as `${number}`);
}

export function expectedCoins(bills: readonly Bill[]) {
  return [...Map.groupBy(bills, ({ cryptocurrency }) => cryptocurrency)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([code, of]) => ({
      coin: code === "ETH" ? "ETH" : `${code} on ETH`,
      payments: of.length === 1 ? "1 payment" : `${of.length} payments`,
      amount: `${coinsOf(of, code)} ${code}`,
      values: expectedReceived(of),
    }));
}

function coinsOf(bills: readonly Bill[], code: string): string {
  const decimals = assetOn(network("ETH"), code)?.decimals ?? 0;
  const units = bills.map(({ amount }) => {
    const parsed = parseUnits(amount, decimals);
    if (!parsed.ok) throw new Error(`${amount} is no amount`);
    return parsed.value;
  });
  const total = formatUnits(
    units.reduce((sum, each) => sum + each, 0n),
    decimals,
  );
  return new Intl.NumberFormat("en-US", { maximumFractionDigits: 18 }).format(total as `${number}`);
}

interface Periods {
  readonly by: "day" | "week" | "month";
  readonly from: string;
  readonly to: string;
  /** The day of a time in the reader's zone. */
  readonly dayIn: (ms: number) => string;
}

/** The days with any activity, newest first. */
export function expectedPeriods(bills: readonly Bill[], { by, from, to, dayIn }: Periods) {
  const periodOf = (time: string) => periodAt(dayIn(Date.parse(time)), by);
  const starts = new Set(bills.flatMap(({ createdAt, receivedAt }) => [periodOf(createdAt), periodOf(receivedAt)]));
  return [...starts]
    .toSorted()
    .map((start) => {
      const paid = bills.filter(({ receivedAt }) => periodOf(receivedAt) === start);
      return {
        name: nameOf(start < from ? from : start, [endOf(start, by), to].toSorted()[0] ?? ""),
        created: bills.filter(({ createdAt }) => periodOf(createdAt) === start).length,
        paid: paid.length,
        payments: paid.length,
        values: expectedReceived(paid),
      };
    })
    .toReversed();
}

/** The first day of the period; weeks begin on Mondays. */
function periodAt(date: string, by: Periods["by"]): string {
  if (by === "day") return date;
  if (by === "month") return `${date.slice(0, 7)}-01`;
  return movedBy(date, -((new Date(date).getUTCDay() + 6) % 7));
}

function endOf(start: string, by: Periods["by"]): string {
  if (by === "day") return start;
  if (by === "week") return movedBy(start, 6);
  const [year = 0, month = 0] = start.split("-").map(Number);
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

function movedBy(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

function nameOf(from: string, to: string): string {
  const format = new Intl.DateTimeFormat("en-US", { month: "short", day: "numeric", timeZone: "UTC" });
  const [first, last] = [from, to].map((date) => format.format(Date.parse(date)));
  return from === to ? String(first) : `${first} – ${last}`;
}
