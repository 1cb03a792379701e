// A monthly statement: one line for each payment that the report of totals counts in the month (decisions 13), followed by their sums, which are
// added up while the payments are printed.
import { isTestNetwork } from "../../chains/registry/networks.ts";
import { pairOf } from "../../chains/registry/pair.ts";
import { formatMicros, formatUnits } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import { dateOf, type Period } from "../reports/calendar.ts";
import { type ExportedPayment, paidOf } from "./payment-line.ts";

/** The columns, in order. New columns are added at the end. */
export const STATEMENT_COLUMNS = [
  "line",
  "date",
  "receivedAt",
  "id",
  "status",
  "invoiceId",
  "externalId",
  "customerId",
  "network",
  "cryptocurrency",
  "amount",
  "currency",
  "fiatAmount",
  "rate",
  "txHash",
  "payments",
  "unpriced",
] as const;

/**
 * PAYMENT: one payment. COIN_TOTAL: all payments in one coin and currency; without a value on a test network. CURRENCY_TOTAL: all payments in one
 * currency, except those on test networks.
 */
export const STATEMENT_LINES = ["PAYMENT", "COIN_TOTAL", "CURRENCY_TOTAL"] as const;

type StatementLine = Readonly<Record<(typeof STATEMENT_COLUMNS)[number], string | number | null>>;

/** The line of a payment that has an invoice. `days`: the days of the month, in the merchant's time zone. */
export function statementLineOf(payment: ExportedPayment, days: readonly Period[]): StatementLine {
  const { receivedAtMs, id, txHash } = payment;
  const day = days.find(({ endsAtMs }) => receivedAtMs < endsAtMs);
  return {
    line: "PAYMENT",
    date: day === undefined ? null : dateOf(day.fromDay),
    receivedAt: isoTime(receivedAtMs),
    id,
    ...paidOf(payment),
    txHash,
    payments: null,
    unpriced: null,
  };
}

interface Sum {
  readonly network: string;
  readonly cryptocurrency: string;
  readonly currency: string;
  readonly payments: number;
  /** Number of payments without a value. */
  readonly unpriced: number;
  readonly units: bigint;
  readonly micros: bigint;
}

/** Keyed by coin and currency, so the size does not depend on the number of payments. */
export type Sums = ReadonlyMap<string, Sum>;

export function sumsWith(sums: Sums, payments: readonly ExportedPayment[]): Sums {
  const all = new Map(sums);
  for (const { network, cryptocurrency, currency, amountUnits, fiatMicros } of payments) {
    const coin = { network, cryptocurrency, currency: currency ?? "" };
    const key = Object.values(coin).join(" ");
    const { payments = 0, unpriced = 0, units = 0n, micros = 0n } = all.get(key) ?? {};
    all.set(key, {
      ...coin,
      payments: payments + 1,
      unpriced: unpriced + (fiatMicros === null ? 1 : 0),
      units: units + amountUnits,
      micros: micros + (fiatMicros ?? 0n),
    });
  }
  return all;
}

/** The totals by coin, followed by the totals by currency, both in alphabetical order. */
export function totalLines(sums: Sums): readonly StatementLine[] {
  const coins = [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
  const received = coins.filter(({ network }) => !isTestNetwork(network));
  const currencies = [...Map.groupBy(received, ({ currency }) => currency)].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return [
    ...coins.map((sum) => {
      const { network, cryptocurrency, units } = sum;
      const amount = formatUnits(units, pairOf({ network, cryptocurrency }).asset.decimals);
      const value = isTestNetwork(network) ? { ...fiatOf([sum]), fiatAmount: null } : fiatOf([sum]);
      return { ...EMPTY, line: "COIN_TOTAL", network, cryptocurrency, amount, ...value };
    }),
    ...currencies.map(([, of]) => ({ ...EMPTY, line: "CURRENCY_TOTAL", ...fiatOf(of) })),
  ];
}

/** The columns of a total in one currency. */
function fiatOf(sums: readonly Sum[]) {
  return {
    currency: sums[0]?.currency ?? null,
    fiatAmount: formatMicros(sums.reduce((sum, { micros }) => sum + micros, 0n)),
    payments: sums.reduce((sum, { payments }) => sum + payments, 0),
    unpriced: sums.reduce((sum, { unpriced }) => sum + unpriced, 0),
  };
}

/** A line with all columns empty, in order, from which the lines of totals are built. */
const EMPTY: StatementLine = {
  line: null,
  date: null,
  receivedAt: null,
  id: null,
  status: null,
  invoiceId: null,
  externalId: null,
  customerId: null,
  network: null,
  cryptocurrency: null,
  amount: null,
  currency: null,
  fiatAmount: null,
  rate: null,
  txHash: null,
  payments: null,
  unpriced: null,
};
