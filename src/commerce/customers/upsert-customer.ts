import { type Acting, actingSeat, seatHeld } from "../../accounts/teams/check-seat.ts";
import { derivedId, type MerchantId, makeId } from "../../lib/ids.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import type { CustomerDependencies } from "./change-customer.ts";
import {
  type CustomerChange,
  type CustomerRecord,
  changedColumns,
  customerEntry,
  differingFields,
  NOTHING_PERSONAL,
} from "./customer.ts";
import { customerBodyOf } from "./customer-body.ts";
import { emailReads } from "./read-customer.ts";
import { assertCustomerAsRead, insertCustomer, updateLiveCustomer } from "./store.ts";

interface UpsertRequest extends Acting {
  readonly merchantId: MerchantId;
  readonly trail: Trail;
  readonly said: CustomerChange;
  /** The merchant's customer with the email in the request, if there is one, read together with the caller. */
  readonly known: CustomerRecord | undefined;
}

/**
 * Creates or updates a customer by email, as work for `runOnce`. Responds 201 with a new customer, or 200 with the existing one, updated with the
 * given fields.
 */
export function upsertCustomer(deps: CustomerDependencies, request: UpsertRequest): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("an upsert of a customer", conflict);
    const { merchantId, said, trail } = request;
    const seat = await actingSeat(deps, request, tries);
    if (!seat.ok) return { kind: "refused", failure: seat.error };
    const held = seatHeld(deps, seat.value);
    let { known } = request;
    if (tries > 0) {
      const [again] = emailReads(deps.db, merchantId, said.email);
      const rows = await readWithRetry(deps.sleep, async () => again);
      if (!rows.ok) return { kind: "refused", failure: rows.error };
      known = rows.value[0];
    }
    const after = afterwards(deps, request, known, operationId);
    const entry = customerEntry(derivedId("aud", operationId), { before: known, after });
    const audit = insertAudit(deps.db, trail, entry, deps.nowMs);
    const body = JSON.stringify(customerBodyOf(after));
    if (known === undefined) {
      return {
        kind: "ready",
        status: 201,
        body,
        statements: [...held, ...insertCustomer(deps.db, after, deps.nowMs), audit],
      };
    }
    const writing = after === known ? [] : [...updateLiveCustomer(deps.db, { before: known, after }, after), audit];
    return {
      kind: "ready",
      status: 200,
      body,
      statements: [...held, assertCustomerAsRead(deps.db, known), ...writing],
    };
  };
}

function afterwards(
  deps: CustomerDependencies,
  { merchantId, said }: UpsertRequest,
  known: CustomerRecord | undefined,
  operationId: string,
): CustomerRecord {
  const columns = changedColumns(known ?? NOTHING_PERSONAL, said);
  if (known === undefined) {
    const times = { createdAtMs: deps.nowMs, updatedAtMs: deps.nowMs, deletedAtMs: null };
    return { id: makeId("cus", operationId), merchantId, ...columns, ...times };
  }
  if (differingFields(known, columns).length === 0) return known;
  return { ...known, ...columns, updatedAtMs: Math.max(deps.nowMs, known.updatedAtMs + 1) };
}
