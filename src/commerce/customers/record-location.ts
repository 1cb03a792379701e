import type { GeoLocation } from "../../lib/geo-location.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Customer } from "./customer.ts";
import { changesLocation, type KeptLocation } from "./location.ts";
import { keepLocation } from "./store.ts";

/** A visit to a checkout page of one of the customer's invoices. */
interface CheckoutVisit {
  readonly customer: Pick<Customer, "id" | "deletedAtMs"> | undefined;
  /** Undefined if unknown: then the stored location is kept. */
  readonly location: GeoLocation | undefined;
  /** The stored location, as read with the invoice. */
  readonly kept: KeptLocation | null;
}

/** Stores the visit's location if it is known and changed: one write at most, never for a deleted customer. No response waits for it. */
export async function recordLocation(
  deps: { readonly db: Db; readonly nowMs: number },
  { customer, location, kept }: CheckoutVisit,
): Promise<void> {
  if (customer === undefined || customer.deletedAtMs !== null || location === undefined) return;
  if (!changesLocation(kept, location, deps.nowMs)) return;
  await keepLocation(deps.db, customer.id, location, deps.nowMs);
}
