import type { GeoLocation } from "../../lib/geo-location.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Customer } from "./customer.ts";
import { changesLocation, type KeptLocation } from "./location.ts";
import { keepLocation } from "./store.ts";

/** A checkout page of the customer was opened. */
interface CheckoutVisit {
  /** The invoice's customer. */
  readonly customer: Pick<Customer, "id" | "deletedAtMs"> | undefined;
  /** Undefined if unknown: then the stored location is kept. */
  readonly location: GeoLocation | undefined;
  /** The stored location, as read with the invoice. */
  readonly kept: KeptLocation | null;
}

/** Stores the location of the latest visit that has one; at most one write, never for a deleted customer. No response waits for it. */
export async function recordLocation(
  deps: { readonly db: Db; readonly nowMs: number },
  { customer, location, kept }: CheckoutVisit,
): Promise<void> {
  if (customer === undefined || customer.deletedAtMs !== null || location === undefined) return;
  if (!changesLocation(kept, location, deps.nowMs)) return;
  await keepLocation(deps.db, customer.id, location, deps.nowMs);
}
