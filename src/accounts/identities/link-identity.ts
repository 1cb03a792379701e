import type { RequestId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { UserPrincipal } from "../auth/principal.ts";
import { assertSessionHeld } from "../sessions/store.ts";
import { assertMailSteps } from "../users/store.ts";
import { identityTarget, type ProvedIdentity } from "./identity.ts";
import { insertIdentity, selectIdentityOwner } from "./store.ts";

export type LinkDependencies = CommitDependencies;

interface IdentityLink {
  readonly identity: ProvedIdentity;
  readonly principal: UserPrincipal;
  readonly ip: string | null;
  readonly requestId: RequestId;
}

/**
 * Links an identity to the user of a session. Changes nothing if it is already linked to this user. Fails with IDENTITY_TAKEN if another user has it,
 * even if they link it at the same moment. Also refuses a session that was stepped up with an emailed code if the user now has a stronger factor.
 */
export function linkIdentity(deps: LinkDependencies, of: IdentityLink): Promise<Result<void, Failure>> {
  const { db, nowMs } = deps;
  const { identity } = of;
  const { user, session } = of.principal;
  const trail: Trail = { actor: { kind: "USER", id: user.id }, ip: of.ip, requestId: of.requestId };
  const target = identityTarget(identity);
  const after = { provider: identity.provider, email: identity.email };
  const read = () => readWithRetry(deps.sleep, async () => selectIdentityOwner(db, identity));
  return change(deps, { name: "a link", read }, ([owner], { auditId: id, conflict }) => {
    if (conflict?.kind === "assertion")
      return err({
        code: "SIGN_IN_REFUSED",
        reason: "the session that began the link has ended, or needs another factor; start again",
      });
    if (owner !== undefined && owner.userId !== user.id) return err({ code: "IDENTITY_TAKEN" });
    if (owner !== undefined) return ok({ value: undefined });
    return ok({
      value: undefined,
      statements: [
        assertSessionHeld(db, session),
        ...(session.factor === "EMAIL_CODE" ? [assertMailSteps(db, user.id)] : []),
        insertIdentity(db, identity, user.id, nowMs),
        insertAudit(db, trail, { id, merchantId: null, action: "identity.linked", target, after }, nowMs),
      ],
    });
  });
}
