import type { Trail } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import { ok, type Result } from "../lib/result.ts";
import { type CustomerEffects, type CustomerFacts, changeCustomer } from "./change-customer.ts";
import { type CustomerRecord, NOTHING_PERSONAL } from "./customer.ts";

/**
 * Forgets a person and keeps the ledger (decisions 10): the row stays for its invoices and says nothing any more. Invoices show it so from
 * now on; a later one of the same email makes a new customer. What they typed into a product's page goes with them.
 */
export async function deleteCustomer(
  fx: CustomerEffects,
  of: { readonly read: CustomerFacts; readonly trail: Trail },
): Promise<Result<CustomerRecord, Failure>> {
  return changeCustomer(fx, of, () => ok({ ...NOTHING_PERSONAL, deletedAtMs: fx.nowMs }));
}
