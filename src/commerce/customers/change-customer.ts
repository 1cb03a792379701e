// Writes an update or the deletion of a customer as one batch with its audit entry. The batch aborts unless the customer is unchanged since it was
// read.

import { type Acting, actingSeat, seatHeld } from "../../accounts/teams/check-seat.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type CustomerRecord, customerEntry } from "./customer.ts";
import { emailReads } from "./read-customer.ts";
import { assertCustomerAsRead, forgetLocation, forgetTyped, selectLiveCustomer, updateLiveCustomer } from "./store.ts";

export type CustomerDependencies = CommitDependencies;

export interface CustomerFacts {
  readonly customer: CustomerRecord;
  /** The customer who already has the new email, possibly the same one. */
  readonly holder: CustomerRecord | undefined;
}

/** Returns the customer after the change. `decide` returns undefined when there is nothing to change. */
export function changeCustomer(
  deps: CustomerDependencies,
  of: Acting & { readonly read: CustomerFacts; readonly trail: Trail; readonly email?: string | null | undefined },
  decide: (facts: CustomerFacts) => Result<Partial<CustomerRecord> | undefined, Failure>,
): Promise<Result<CustomerRecord, Failure>> {
  const subject = { name: "a change of a customer", read: (tries: number) => readFacts(deps, of, tries) };
  return change(deps, subject, ({ seat, ...facts }, { auditId }) => {
    const { customer: before } = facts;
    const decided = decide(facts);
    if (!decided.ok) return decided;
    if (decided.value === undefined) return ok({ value: before });
    const columns = { ...decided.value, updatedAtMs: Math.max(deps.nowMs, before.updatedAtMs + 1) };
    const after = { ...before, ...columns };
    return ok({
      value: after,
      statements: [
        assertCustomerAsRead(deps.db, before),
        ...seatHeld(deps, seat),
        ...updateLiveCustomer(deps.db, { before, after }, columns),
        ...(after.deletedAtMs === null ? [] : [forgetTyped(deps.db, before), forgetLocation(deps.db, before)]),
        insertAudit(deps.db, of.trail, customerEntry(auditId, { before, after }), deps.nowMs),
      ],
    });
  });
}

async function readFacts(
  deps: CustomerDependencies,
  of: Acting & { readonly read: CustomerFacts; readonly email?: string | null | undefined },
  tries: number,
): Promise<Result<CustomerFacts & { readonly seat: Acting["seat"] }, Failure>> {
  const seat = await actingSeat(deps, of, tries);
  if (!seat.ok) return seat;
  if (tries === 0) return ok({ ...of.read, seat: seat.value });
  const { merchantId, id } = of.read.customer;
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [selectLiveCustomer(deps.db, merchantId, id), ...emailReads(deps.db, merchantId, of.email)]),
  );
  if (!rows.ok) return rows;
  const [[customer], [holder]] = rows.value;
  return customer === undefined ? err({ code: "CUSTOMER_NOT_FOUND" }) : ok({ customer, holder, seat: seat.value });
}
