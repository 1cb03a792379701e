// Arithmetic with the amounts of reports. They are decimal texts, computed as whole numbers; only percentages are rounded.
import type { ReportTotals } from "../api/operations.ts";
import { coinName } from "../shell/coin-name.ts";

export type Sums = ReportTotals["total"];
type Coin = Sums["coins"][number];

const FRACTION_DIGITS = 6;
const NOTHING = "0.000000";

function microsOf(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(`${whole}${fraction.padEnd(FRACTION_DIGITS, "0").slice(0, FRACTION_DIGITS)}`);
}

/** The relative change from the previous amount: 0.25 is a quarter more. Undefined if the previous amount was 0. */
export function growth(amount: string, before: string): number | undefined {
  const [now, past] = [microsOf(amount), microsOf(before)];
  if (past <= 0n) return undefined;
  return Number(((now - past) * 1_000n) / past) / 1_000;
}

/** The relative change of a count. */
export function growthOfCount(count: number, before: number): number | undefined {
  return before > 0 ? (count - before) / before : undefined;
}

/** The sum in this currency; 0 if nothing was received in it. */
export function receivedIn({ received }: Pick<Sums, "received">, currency: string): string {
  return received.find((each) => each.currency === currency)?.amount ?? NOTHING;
}

/** Every currency with receipts in either period. The currency with receipts on the most days comes first. */
export function currenciesOf(now: ReportTotals, before: ReportTotals): readonly string[] {
  const days = [...now.periods, ...before.periods].flatMap(({ received }) => received);
  const daysIn = (currency: string) => days.filter((each) => each.currency === currency).length;
  const all = [...now.total.received, ...before.total.received].map(({ currency }) => currency);
  return [...new Set(all)].toSorted((a, b) => daysIn(b) - daysIn(a));
}

/** The number of payments in test coins, which no other sum includes. */
export function testPaymentsOf({ coins }: Pick<Sums, "coins">): number {
  return coins.reduce((sum, { isTest, payments }) => sum + (isTest ? payments : 0), 0);
}

export interface CoinRow {
  readonly name: string;
  readonly cryptocurrency: string;
  /** Undefined if nothing was received in this coin in the period. */
  readonly now: Coin | undefined;
  readonly before: Coin | undefined;
}

/** Every coin with receipts in either period. */
export function coinRows(now: Sums, before: Sums): readonly CoinRow[] {
  const names = new Map(
    [...now.coins, ...before.coins].map((coin) => [
      nameOf(coin),
      { name: nameOf(coin), cryptocurrency: coin.cryptocurrency },
    ]),
  );
  const find = (coins: readonly Coin[], name: string) => coins.find((coin) => nameOf(coin) === name);
  return [...names.values()].map((row) => ({
    ...row,
    now: find(now.coins, row.name),
    before: find(before.coins, row.name),
  }));
}

function nameOf({ cryptocurrency, network }: Coin): string {
  return coinName(cryptocurrency, network);
}

/** The mean time in seconds; undefined if no invoice was paid after a method was picked. */
export function meanTimeToPaid({ timeToPaid }: Pick<Sums, "timeToPaid">): number | undefined {
  const { invoices, seconds } = timeToPaid;
  return invoices === 0 ? undefined : Number(BigInt(seconds) / BigInt(invoices));
}

/** Invoices that were paid in full or overpaid. */
export function paidOf({ invoices }: Pick<Sums, "invoices">): number {
  return invoices.paid + invoices.overpaid;
}
