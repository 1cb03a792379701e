// Signs a person in with a passkey alone: it verified its user, so no second factor is owed (security.md 1).
import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { personOf } from "../auth/authenticate-session.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { derivedId, type RequestId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { openSession } from "../sessions/open-session.ts";
import { revocation } from "../sessions/revoke-session.ts";
import { isSessionLive, type SessionState } from "../sessions/session.ts";
import { selectSessionByToken } from "../sessions/store.ts";
import type { Person } from "../users/person.ts";
import { selectPersonById } from "../users/store.ts";
import type { PasskeyEffects } from "./begin-passkey.ts";
import type { Assertion } from "./credential.ts";
import { verifyPasskey } from "./verify-passkey.ts";

export interface PasskeySignIn {
  readonly credential: Assertion;
  /** The browser's cookies: the nonce of its start, and the session it may have; that one ends. */
  readonly nonce: string | undefined;
  readonly oldToken: string | undefined;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: RequestId;
}

export interface SignedIn {
  readonly token: string;
  readonly state: SessionState;
  readonly person: Person;
}

/** PASSKEY_REFUSED, one and the same, for whatever is wrong. Of two with one challenge one is signed in. */
export async function openPasskeySession(fx: PasskeyEffects, of: PasskeySignIn): Promise<Result<SignedIn, Failure>> {
  const { db, nowMs } = fx;
  const { credential, nonce, ip, userAgent, requestId } = of;
  const used = await verifyPasskey(fx, { kind: "PASSKEY_SIGN_IN", credential, nonce, trail: { ip, requestId } });
  if (!used.ok) return used;
  const rows = await readWithRetry(fx.sleep, async () =>
    db.batch([selectPersonById(db, used.value.userId), selectSessionByToken(db, sha256Hex(of.oldToken ?? ""))]),
  );
  if (!rows.ok) return rows;
  const [[known], [oldSession]] = rows.value;
  if (known === undefined) throw new Error(`the passkey ${used.value.passkeyId} belongs to nobody`);
  const person = personOf(known.user, known.links);
  const operationId = fx.newOperationId();
  const trail: Trail = { actor: { kind: "USER", id: person.id }, ip, requestId };
  const opened = openSession(fx, {
    ...{ person, signedInWith: "PASSKEY", factor: "PASSKEY", ip, userAgent },
    ...{ operationId, requestId },
  });
  const isOld = oldSession !== undefined && isSessionLive(oldSession, nowMs);
  const committed = await commitAudited(fx, derivedId("aud", operationId), [
    ...used.value.statements,
    ...(isOld ? revocation(fx, { sessionId: oldSession.id, trail, operationId, n: 1 }) : []),
    ...opened.statements,
  ]);
  if (committed.kind === "stands") return ok({ token: opened.token, state: opened.session.state, person });
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  if (committed.conflict.kind === "assertion") return err({ code: "PASSKEY_REFUSED" });
  throw new Error("a sign-in violates a key that nobody else can hold");
}
