// Ends sessions, each with its audit entry. What ended stays ended: a token that was read from a row is none (security.md 1).
import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type SessionId, type UserId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { revokeOtherSessions, revokeSession as revokeRow, selectOwnSession } from "./store.ts";

export interface RevokeEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly newOperationId: () => string;
}

/** For another change's batch; `n` numbers the audit entries of that operation. */
export function revocation(
  fx: { readonly db: Db; readonly nowMs: number },
  of: { readonly sessionId: SessionId; readonly trail: Trail; readonly operationId: string; readonly n: number },
) {
  const entry = {
    id: derivedId("aud", of.operationId, of.n),
    merchantId: null,
    action: "session.revoked",
    target: of.sessionId,
  } as const;
  return [revokeRow(fx.db, of.sessionId, fx.nowMs), insertAudit(fx.db, of.trail, entry, fx.nowMs)] as const;
}

/** The session to end, if it is a live one of the caller's; read with the caller, who is not proved yet. */
export function ownSessionReads(db: Db, of: Parameters<typeof selectOwnSession>[1]) {
  return [selectOwnSession(db, of)] as const;
}

/** May be repeated: a session ends once. */
export async function revokeSession(
  fx: RevokeEffects,
  of: { readonly sessionId: SessionId; readonly trail: Trail },
): Promise<Result<undefined, Failure>> {
  const operationId = fx.newOperationId();
  const statements = revocation(fx, { ...of, operationId, n: 0 });
  const committed = await commitAudited(fx, derivedId("aud", operationId), statements);
  return committed.kind === "stands" ? ok(undefined) : err({ code: "STORAGE_UNAVAILABLE" });
}

/** Signs every other browser of a person out. */
export async function revokeOthers(
  fx: RevokeEffects,
  of: { readonly userId: UserId; readonly kept: SessionId; readonly trail: Trail },
): Promise<Result<undefined, Failure>> {
  const operationId = fx.newOperationId();
  const id = derivedId("aud", operationId);
  const { userId, kept } = of;
  const entry = {
    id,
    merchantId: null,
    action: "session.revoked",
    target: userId,
    after: { allSessionsBut: kept },
  } as const;
  const committed = await commitAudited(fx, id, [
    revokeOtherSessions(fx.db, { userId, kept, nowMs: fx.nowMs }),
    insertAudit(fx.db, of.trail, entry, fx.nowMs),
  ]);
  return committed.kind === "stands" ? ok(undefined) : err({ code: "STORAGE_UNAVAILABLE" });
}
