// What a report counts, in buckets of a quarter of an hour. Every UTC offset of a time zone since 1972 is a whole number of quarters, so a day in any
// zone consists of whole buckets.

import type { Pair } from "../../chains/registry/pair.ts";
import type { InvoiceId } from "../../lib/ids.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export const BUCKET_MS = 15 * MINUTE_MS;

/** The start of the bucket that contains a time. */
export function bucketOf(ms: number): number {
  return Math.floor(ms / BUCKET_MS) * BUCKET_MS;
}

/** The measures that fit into one column; the others take several columns (`digit-groups.ts`). */
export const COUNTS = [
  "created",
  "paid",
  "overpaid",
  "underpaid",
  "expired",
  "cancelled",
  "timed",
  "secondsToPaid",
  "payments",
  "unpriced",
] as const;
const MEASURES = [...COUNTS, "units", "fiatMicros"] as const;
export type Measure = (typeof MEASURES)[number];
export type Sums = Readonly<Record<Measure, bigint>>;

/** Used instead of a coin in entries that count an invoice rather than a payment. */
export const NO_COIN = { network: "", cryptocurrency: "" } as const;

/** What an invoice adds to one bucket; absent members are 0. A negative number undoes an earlier addition. */
export interface ReportEntry extends Pair {
  readonly invoiceId: InvoiceId;
  readonly startsAtMs: number;
  readonly sums: Partial<Sums>;
}

export function membersOf(sums: Partial<Sums>): readonly (readonly [Measure, bigint])[] {
  return MEASURES.flatMap((measure) => {
    const value = sums[measure];
    return value === undefined ? [] : [[measure, value] as const];
  });
}

export function totalOf(all: readonly Partial<Sums>[]): Sums {
  const total: Record<Measure, bigint> = { ...ZERO };
  for (const sums of all) for (const [measure, value] of membersOf(sums)) total[measure] += value;
  return total;
}

const ZERO: Sums = {
  created: 0n,
  paid: 0n,
  overpaid: 0n,
  underpaid: 0n,
  expired: 0n,
  cancelled: 0n,
  timed: 0n,
  secondsToPaid: 0n,
  payments: 0n,
  unpriced: 0n,
  units: 0n,
  fiatMicros: 0n,
};
