import type { Acting } from "../../accounts/teams/check-seat.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type CustomerDependencies, type CustomerFacts, changeCustomer } from "./change-customer.ts";
import { type CustomerRecord, NOTHING_PERSONAL } from "./customer.ts";

/**
 * Deletes a customer's personal data and keeps the row for its invoices (decisions 10). From then on invoices show the customer without
 * data; a later invoice with the same email creates a new customer. Also deletes what the customer typed on product pages, and their location.
 */
export async function deleteCustomer(
  deps: CustomerDependencies,
  of: Acting & { readonly read: CustomerFacts; readonly trail: Trail },
): Promise<Result<CustomerRecord, Failure>> {
  return changeCustomer(deps, of, () => ok({ ...NOTHING_PERSONAL, deletedAtMs: deps.nowMs }));
}
