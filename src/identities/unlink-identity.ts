import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type UserId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type IdentityKey, identityTarget } from "./identity.ts";
import type { LinkEffects } from "./link-identity.ts";
import { assertIdentityOf, deleteIdentity } from "./store.ts";

/** IDENTITY_NOT_FOUND for one that is not the person's. A code by mail signs them in still, whatever they unlink. */
export async function unlinkIdentity(
  fx: LinkEffects,
  of: { readonly identity: IdentityKey; readonly userId: UserId; readonly trail: Trail },
): Promise<Result<void, Failure>> {
  const { db, nowMs } = fx;
  const { identity, userId, trail } = of;
  const id = derivedId("aud", fx.newOperationId());
  const before = { provider: identity.provider };
  const entry = {
    id,
    merchantId: null,
    action: "identity.unlinked",
    target: identityTarget(identity),
    before,
  } as const;
  const committed = await commitAudited(fx, id, [
    assertIdentityOf(db, identity, userId),
    deleteIdentity(db, identity),
    insertAudit(db, trail, entry, nowMs),
  ]);
  if (committed.kind === "stands") return ok(undefined);
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  if (committed.conflict.kind === "assertion") return err({ code: "IDENTITY_NOT_FOUND" });
  throw new Error("an unlinking violates a key that nobody else can hold");
}
