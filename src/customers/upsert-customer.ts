import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import { type BatchConflict, describeConflict, isContention } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { derivedId, type MerchantId, makeId } from "../lib/ids.ts";
import type { CustomerEffects } from "./change-customer.ts";
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

export interface UpsertRequest {
  readonly merchantId: MerchantId;
  readonly trail: Trail;
  readonly said: CustomerChange;
  /** The customer of the email, read with the caller. */
  readonly known: CustomerRecord | undefined;
}

/** The work of one upsert by email, for `runOnce`: 201 with a new customer, 200 with the one who has the email, changed by what is given. */
export function upsertCustomer(fx: CustomerEffects, request: UpsertRequest): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    refuseBug(conflict);
    const { merchantId, said, trail } = request;
    let { known } = request;
    if (tries > 0) {
      const [again] = emailReads(fx.db, merchantId, said.email);
      const rows = await readWithRetry(fx.sleep, async () => again);
      if (!rows.ok) return { kind: "refused", failure: rows.error };
      known = rows.value[0];
    }
    const after = afterwards(fx, request, known, operationId);
    const entry = customerEntry(derivedId("aud", operationId), { before: known, after });
    const audit = insertAudit(fx.db, trail, entry, fx.nowMs);
    const body = JSON.stringify(customerBodyOf(after));
    if (known === undefined) {
      return { kind: "ready", status: 201, body, statements: [insertCustomer(fx.db, after, fx.nowMs), audit] };
    }
    const writing = after === known ? [] : [updateLiveCustomer(fx.db, known, after), audit];
    return { kind: "ready", status: 200, body, statements: [assertCustomerAsRead(fx.db, known), ...writing] };
  };
}

function afterwards(
  fx: CustomerEffects,
  { merchantId, said }: UpsertRequest,
  known: CustomerRecord | undefined,
  operationId: string,
): CustomerRecord {
  const columns = changedColumns(known ?? NOTHING_PERSONAL, said);
  if (known === undefined) {
    const times = { createdAtMs: fx.nowMs, updatedAtMs: fx.nowMs, deletedAtMs: null };
    return { id: makeId("cus", operationId), merchantId, ...columns, ...times };
  }
  if (differingFields(known, columns).length === 0) return known;
  return { ...known, ...columns, updatedAtMs: Math.max(fx.nowMs, known.updatedAtMs + 1) };
}

function refuseBug(conflict: BatchConflict | undefined): void {
  if (conflict !== undefined && !isContention(conflict))
    throw new Error(`an upsert of a customer met ${describeConflict(conflict)}`);
}
