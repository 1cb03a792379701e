import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { PersonPrincipal } from "../auth/principal.ts";
import type { Db } from "../db/client.ts";
import { isConflictOn } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type RequestId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { identityTarget, type ProvedIdentity } from "./identity.ts";
import { assertSessionStands, insertIdentity, selectIdentityOwner } from "./store.ts";

export interface LinkEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly newOperationId: () => string;
}

export interface IdentityLink {
  readonly identity: ProvedIdentity;
  readonly principal: PersonPrincipal;
  readonly ip: string | null;
  readonly requestId: RequestId;
}

/**
 * Links an identity to the person of a session. One that is theirs already stays as it is; another person's is IDENTITY_TAKEN, also when it
 * becomes so at this moment.
 */
export async function linkIdentity(fx: LinkEffects, of: IdentityLink): Promise<Result<void, Failure>> {
  const { db, nowMs } = fx;
  const { identity } = of;
  const { person, session } = of.principal;
  const owner = await readWithRetry(fx.sleep, async () => selectIdentityOwner(db, identity));
  if (!owner.ok) return owner;
  const [known] = owner.value;
  if (known !== undefined) return known.userId === person.id ? ok(undefined) : err({ code: "IDENTITY_TAKEN" });
  const operationId = fx.newOperationId();
  const id = derivedId("aud", operationId);
  const trail: Trail = { actor: { kind: "USER", id: person.id }, ip: of.ip, requestId: of.requestId };
  const after = { provider: identity.provider, email: identity.email };
  const entry = {
    id,
    merchantId: null,
    action: "identity.linked",
    target: identityTarget(identity),
    after,
  } as const;
  const committed = await commitAudited(fx, id, [
    assertSessionStands(db, session.id),
    insertIdentity(db, identity, person.id, nowMs),
    insertAudit(db, trail, entry, nowMs),
  ]);
  if (committed.kind === "stands") return ok(undefined);
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  if (committed.conflict.kind === "assertion")
    return err({ code: "SIGN_IN_REFUSED", reason: "the session that asked for the link is over" });
  if (isConflictOn(committed.conflict, "identities")) return linkIdentity(fx, of);
  throw new Error("a link violates a key that nobody else can hold");
}
