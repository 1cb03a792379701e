import type { UserId } from "../../lib/ids.ts";
import type { Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import type { Failure } from "../../platform/failures.ts";
import { type IdentityKey, identityTarget } from "./identity.ts";
import type { LinkDependencies } from "./link-identity.ts";
import { assertIdentityOf, deleteIdentity } from "./store.ts";

/** Fails with IDENTITY_NOT_FOUND for an identity that is not linked to the user. Afterwards the user can still sign in with an emailed code. */
export function unlinkIdentity(
  deps: LinkDependencies,
  of: { readonly identity: IdentityKey; readonly userId: UserId; readonly trail: Trail },
): Promise<Result<void, Failure>> {
  const { db, nowMs } = deps;
  const { identity, userId, trail } = of;
  const target = identityTarget(identity);
  const before = { provider: identity.provider };
  return changeOnce(deps, { name: "an unlinking", refusal: { code: "IDENTITY_NOT_FOUND" } }, ({ auditId: id }) => ({
    value: undefined,
    statements: [
      assertIdentityOf(db, identity, userId),
      deleteIdentity(db, identity, userId),
      insertAudit(db, trail, { id, merchantId: null, action: "identity.unlinked", target, before }, nowMs),
    ],
  }));
}
