// Every change of a customer that stands: read, decide, one batch with its audit entry, resting on what the customer said when read.
// Whoever lost reads again and decides again, five times, then 503 (reliability.md 3).
import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import { describeConflict, isContention } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { type CustomerRecord, customerEntry } from "./customer.ts";
import { emailReads } from "./read-customer.ts";
import { assertCustomerAsRead, forgetTyped, selectLiveCustomer, updateLiveCustomer } from "./store.ts";

const MAX_TRIES = 5;

export interface CustomerEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  newOperationId(): string;
}

export interface CustomerFacts {
  readonly customer: CustomerRecord;
  /** Who has the email that the change gives; they may be the customer. */
  readonly holder: CustomerRecord | undefined;
}

/** `decide` is asked again with the facts as they then stand; undefined means that there is nothing to do. Answers the customer as they then are. */
export async function changeCustomer(
  fx: CustomerEffects,
  of: { readonly read: CustomerFacts; readonly trail: Trail; readonly email?: string | null | undefined },
  decide: (facts: CustomerFacts) => Result<Partial<CustomerRecord> | undefined, Failure>,
): Promise<Result<CustomerRecord, Failure>> {
  let facts = of.read;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) {
      const again = await readAgain(fx, of.read.customer, of.email);
      if (!again.ok) return again;
      facts = again.value;
    }
    const { customer: before } = facts;
    const change = decide(facts);
    if (!change.ok) return change;
    if (change.value === undefined) return ok(before);
    const columns = { ...change.value, updatedAtMs: Math.max(fx.nowMs, before.updatedAtMs + 1) };
    const after = { ...before, ...columns };
    const auditId = derivedId("aud", fx.newOperationId());
    const committed = await commitAudited(fx, auditId, [
      assertCustomerAsRead(fx.db, before),
      updateLiveCustomer(fx.db, before, columns),
      ...(after.deletedAtMs === null ? [] : [forgetTyped(fx.db, before)]),
      insertAudit(fx.db, of.trail, customerEntry(auditId, { before, after }), fx.nowMs),
    ]);
    if (committed.kind === "stands") return ok(after);
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (!isContention(committed.conflict))
      throw new Error(`a change of a customer met ${describeConflict(committed.conflict)}`);
  }
  return err({ code: "CONTENTION" });
}

async function readAgain(
  fx: CustomerEffects,
  { merchantId, id }: CustomerRecord,
  email: string | null | undefined,
): Promise<Result<CustomerFacts, Failure>> {
  const rows = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([selectLiveCustomer(fx.db, merchantId, id), ...emailReads(fx.db, merchantId, email)]),
  );
  if (!rows.ok) return rows;
  const [[customer], [holder]] = rows.value;
  return customer === undefined ? err({ code: "CUSTOMER_NOT_FOUND" }) : ok({ customer, holder });
}
