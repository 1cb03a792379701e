import type { Acting } from "../../accounts/teams/check-seat.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type CustomerDependencies, type CustomerFacts, changeCustomer } from "./change-customer.ts";
import { type CustomerChange, type CustomerRecord, changedColumns, differingFields } from "./customer.ts";

/** Updates a customer. Refuses an email that another customer has, with that customer's id. Writes nothing if nothing changes. */
export async function updateCustomerDetails(
  deps: CustomerDependencies,
  of: Acting & { readonly read: CustomerFacts; readonly trail: Trail },
  change: CustomerChange,
): Promise<Result<CustomerRecord, Failure>> {
  return changeCustomer(deps, { ...of, email: change.email }, ({ customer, holder }) => {
    if (holder !== undefined && holder.id !== customer.id) {
      return err({ code: "CUSTOMER_EMAIL_EXISTS", customerId: holder.id });
    }
    const columns = changedColumns(customer, change);
    return ok(differingFields(customer, columns).length === 0 ? undefined : columns);
  });
}
