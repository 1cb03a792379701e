// Ends sessions, each with an audit entry. An ended session stays ended; its token never becomes valid again.

import { derivedId, type SessionId, type UserId } from "../../lib/ids.ts";
import type { Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, changeOnce } from "../../platform/changes/change.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import { revokeOtherSessions, revokeSession as revokeRow, selectOwnSession } from "./store.ts";

export type RevokeDependencies = CommitDependencies;

/** Statements that end a session, for the batch of another change; `n` numbers that operation's audit entries. */
export function revocation(
  deps: { readonly db: Db; readonly nowMs: number },
  of: { readonly sessionId: SessionId; readonly trail: Trail; readonly operationId: string; readonly n: number },
) {
  const entry = {
    id: derivedId("aud", of.operationId, of.n),
    merchantId: null,
    action: "session.revoked",
    target: of.sessionId,
  } as const;
  return [revokeRow(deps.db, of.sessionId, deps.nowMs), insertAudit(deps.db, of.trail, entry, deps.nowMs)] as const;
}

/** Reads the session to end, if it is live and belongs to the caller, in the storage call that authenticates the caller. */
export function ownSessionReads(db: Db, of: Parameters<typeof selectOwnSession>[1]) {
  return [selectOwnSession(db, of)] as const;
}

/** Ends a session; safe to repeat. */
export function revokeSession(
  deps: RevokeDependencies,
  of: { readonly sessionId: SessionId; readonly trail: Trail },
): Promise<Result<undefined, Failure>> {
  return changeOnce(deps, ENDING, ({ operationId }) => ({
    value: undefined,
    statements: revocation(deps, { ...of, operationId, n: 0 }),
  }));
}

/** Ends all of a user's other sessions. */
export function revokeOthers(
  deps: RevokeDependencies,
  of: { readonly userId: UserId; readonly kept: SessionId; readonly trail: Trail },
): Promise<Result<undefined, Failure>> {
  const { userId: target, kept } = of;
  return changeOnce(deps, ENDING, ({ auditId: id }) => {
    const after = { allSessionsBut: kept };
    const entry = { id, merchantId: null, action: "session.revoked", target, after } as const;
    return {
      value: undefined,
      statements: [
        revokeOtherSessions(deps.db, { userId: target, kept, nowMs: deps.nowMs }),
        insertAudit(deps.db, of.trail, entry, deps.nowMs),
      ],
    };
  });
}

/** The batch asserts nothing, so no other writer can make it fail. */
const ENDING = { name: "ending sessions", refusal: { code: "STORAGE_UNAVAILABLE" } } as const;
