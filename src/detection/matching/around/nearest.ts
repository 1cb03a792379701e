// Chooses the nearest amount of each invoice from two sorted reads, above and below a transfer's amount. A read is limited, and one invoice may hold
// hundreds of amounts, so the result also states whether the reads covered everything nearer than the last chosen amount.
import type { InvoiceId } from "../../../lib/ids.ts";

export interface HeldAmount {
  readonly units: bigint;
  readonly invoiceId: InvoiceId;
}

/** One read, in order of distance from the wanted amount. */
export interface Side {
  readonly held: readonly HeldAmount[];
  /** Whether the read ended at its limit; if so, amounts farther away are unknown. */
  readonly isCut: boolean;
}

interface Nearest {
  /** One amount for each invoice, nearest first. */
  readonly amounts: readonly HeldAmount[];
  /** Whether these are the nearest of all amounts. */
  readonly isWhole: boolean;
}

/** At most `limit` invoices by |wanted - units| / units. */
export function nearestOf(wanted: bigint, sides: readonly Side[], limit: number): Nearest {
  const byInvoice = new Map<InvoiceId, HeldAmount>();
  for (const amount of sides.flatMap(({ held }) => held)) {
    const best = byInvoice.get(amount.invoiceId);
    if (best === undefined || compare(wanted, amount, best) < 0) byInvoice.set(amount.invoiceId, amount);
  }
  const amounts = [...byInvoice.values()].toSorted((a, b) => compare(wanted, a, b)).slice(0, limit);
  const last = amounts.at(-1);
  const isWhole = sides.every(({ held, isCut }) => {
    if (!isCut || last === undefined) return !isCut;
    // Amounts beyond the farthest one on this side are farther away than the chosen ones.
    return amounts.length === limit && held.some((amount) => compare(wanted, amount, last) >= 0);
  });
  return { amounts, isWhole };
}

/** Below 0 if `a` is nearer. Integers only: a double cannot distinguish close amounts with 18 decimals. */
function compare(wanted: bigint, a: HeldAmount, b: HeldAmount): number {
  const [left, right] = [distance(wanted, a) * b.units, distance(wanted, b) * a.units];
  return Number(left > right) - Number(left < right);
}

function distance(wanted: bigint, { units }: HeldAmount): bigint {
  return wanted > units ? wanted - units : units - wanted;
}
