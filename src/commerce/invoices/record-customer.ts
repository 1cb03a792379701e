// What creating an invoice writes about its customer: a new row, the changed fields of an existing one, or nothing.
import { derivedId } from "../../lib/ids.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Write } from "../../platform/db/statement.ts";
import { type Customer, customerEntry, isSameCustomer } from "../customers/customer.ts";
import { assertCustomerLive, insertCustomer, updateCustomer } from "../customers/store.ts";

/**
 * The statements for the batch that creates the invoice, which aborts if an existing customer was deleted meanwhile. `typed`: the request's fields.
 */
export function recordCustomer(
  deps: { readonly db: Db; readonly trail: Trail; readonly nowMs: number },
  typed: Parameters<typeof updateCustomer>[2],
  of: {
    readonly before: Customer | undefined;
    readonly after: Customer | undefined;
    readonly operationId: string;
  },
): readonly Write[] {
  const { before, after, operationId } = of;
  if (after === undefined) return [];
  const entry = customerEntry(derivedId("aud", operationId, 1), { before, after });
  const audit = insertAudit(deps.db, deps.trail, entry, deps.nowMs);
  if (before === undefined) return [...insertCustomer(deps.db, after, deps.nowMs), audit];
  const writing = isSameCustomer(before, after)
    ? []
    : [...updateCustomer(deps.db, { before, after }, typed, deps.nowMs), audit];
  return [assertCustomerLive(deps.db, before.id), ...writing];
}
