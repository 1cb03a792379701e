// Repeats a revocation that the database has lost, together with an audit entry. The entry's id prevents a second repetition.
import { derivedId, parseId } from "../../lib/ids.ts";
import { ownerOf } from "../../lib/object-of.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { commitChange } from "../../platform/changes/commit-change.ts";
import type { Db } from "../../platform/db/client.ts";
import { isConflictOn } from "../../platform/db/conflict.ts";
import type { KeptRevocation } from "../../platform/revocations/revocation.ts";
import type { Outcome, Restore } from "./restore.ts";
import { repeatRevocation, selectOwnerSeat } from "./store.ts";

interface ReplayDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: number;
}

/** `name`: the object that kept the revocation. Throws storage errors, so that the step is repeated. */
export async function replayRevocation(
  deps: ReplayDependencies,
  {
    restore,
    name,
    kept,
  }: { readonly restore: Pick<Restore, "operationId">; readonly name: string; readonly kept: KeptRevocation },
): Promise<Outcome> {
  const { db, nowMs } = deps;
  const { kind, target, place } = kept;
  const owner = ownerOf(name);
  const id = derivedId("aud", `${restore.operationId}|revoked ${name} ${place}`);
  const merchantId = parseId("mer", owner) ?? null;
  const entry = { id, merchantId, action: "revocation.repeated", target, after: { kind } } as const;
  const statements = [repeatRevocation(db, owner, kept), insertAudit(db, SYSTEM_TRAIL, entry, nowMs)];
  const committed = await commitChange(deps, id, statements);
  if (committed.kind === "unknown") throw new Error("it is unknown whether a revocation was repeated");
  // If the audit entry exists, an earlier run of this step has already repeated the revocation.
  if (committed.kind === "conflict" && !isConflictOn(committed.conflict, "audit_events"))
    return { kind: "FOUND", reason: "REFUSED" };
  const isOfMember = kind === "MEMBER_REMOVED" || kind === "MEMBER_ROLE";
  const seats = isOfMember ? await selectOwnerSeat(db, owner, target) : [];
  const isUncertain = seats.length > 0 || kept.columns.role === "OWNER";
  return isUncertain ? { kind: "FOUND", reason: "OWNER_UNCERTAIN" } : { kind: "DONE" };
}
