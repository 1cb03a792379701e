// Chooses the nearest amount of each invoice among those that two sorted reads found above and below a transfer's. A read is limited, and one
// invoice may hold hundreds of amounts, so this also says whether the reads saw everything nearer than the last one chosen.
import type { InvoiceId } from "../../../lib/ids.ts";

export interface HeldAmount {
  readonly units: bigint;
  readonly invoiceId: InvoiceId;
}

/** One read, away from the wanted amount. */
export interface Side {
  readonly held: readonly HeldAmount[];
  /** It ended at its limit: what is farther away was not seen. */
  readonly isCut: boolean;
}

export interface Nearest {
  /** One of each invoice, the nearest first. */
  readonly amounts: readonly HeldAmount[];
  /** Whether they are the nearest of all that there are. */
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
    // Whatever lies beyond the farthest that this side saw is farther than what was chosen.
    return amounts.length === limit && held.some((amount) => compare(wanted, amount, last) >= 0);
  });
  return { amounts, isWhole };
}

/** Below 0 where `a` is nearer. Integers only: a double cannot distinguish close amounts of 18 decimals. */
function compare(wanted: bigint, a: HeldAmount, b: HeldAmount): number {
  const [left, right] = [distance(wanted, a) * b.units, distance(wanted, b) * a.units];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function distance(wanted: bigint, { units }: HeldAmount): bigint {
  return wanted > units ? wanted - units : units - wanted;
}
