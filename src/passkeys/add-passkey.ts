// Registers a passkey: what the browser made of our options is judged, and its key kept, in the batch that uses the challenge up.
import { base64urlnopad } from "@scure/base";
import { verifyRegistrationResponse } from "@simplewebauthn/server";
import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import { isConflictOn } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { derivedId, makeId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { ProvedSession } from "../sessions/session.ts";
import type { PasskeyEffects } from "./begin-passkey.ts";
import { ALGORITHMS, type Attestation, challengeIn, isChallengeOf, relyingPartyOf } from "./credential.ts";
import { consumeChallenge, insertPasskey, type PasskeyRow, selectChallenge } from "./store.ts";

export interface NewPasskey {
  readonly session: Pick<ProvedSession, "id" | "userId">;
  readonly credential: Attestation;
  readonly name: string;
  readonly trail: Trail;
}

/** PASSKEY_REFUSED for whatever is wrong with an answer; PASSKEY_EXISTS when the credential is registered, by anybody. */
export async function addPasskey(fx: PasskeyEffects, of: NewPasskey): Promise<Result<PasskeyRow, Failure>> {
  const { db, nowMs } = fx;
  const { session, credential } = of;
  const challenge = challengeIn(credential.response.clientDataJSON);
  if (challenge === undefined) return err({ code: "PASSKEY_REFUSED" });
  const hash = sha256Hex(challenge);
  const rows = await readWithRetry(fx.sleep, async () => selectChallenge(db, hash));
  if (!rows.ok) return rows;
  const [given] = rows.value;
  if (given === undefined || !isChallengeOf(given, { kind: "PASSKEY_REGISTRATION", session }, nowMs))
    return err({ code: "PASSKEY_REFUSED" });
  const key = await verified(fx, credential, challenge);
  if (key === undefined) return err({ code: "PASSKEY_REFUSED" });
  const operationId = fx.newOperationId();
  const id = makeId("pky", operationId);
  const passkey = { id, userId: session.userId, ...key, name: of.name, createdAtMs: nowMs, lastUsedAtMs: null };
  const { name, isBackedUp } = passkey;
  const auditId = derivedId("aud", operationId);
  const entry = {
    id: auditId,
    merchantId: null,
    action: "passkey.added",
    target: id,
    after: { name, isBackedUp },
  } as const;
  const committed = await commitAudited(fx, auditId, [
    ...consumeChallenge(db, hash),
    insertPasskey(db, passkey),
    insertAudit(db, of.trail, entry, nowMs),
  ]);
  if (committed.kind === "stands") return ok(passkey);
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  if (isConflictOn(committed.conflict, "passkeys", ["credential_id"])) return err({ code: "PASSKEY_EXISTS" });
  if (committed.conflict.kind === "assertion") return err({ code: "PASSKEY_REFUSED" });
  throw new Error("a new passkey violates a key that nobody else can hold");
}

type Key = Pick<PasskeyRow, "credentialId" | "publicKey" | "counter" | "transports" | "isBackedUp">;

/** The key once origin, RP id, user verification and form hold; undefined when any does not, or where a maker's statement is attached. */
async function verified(fx: PasskeyEffects, credential: Attestation, challenge: string): Promise<Key | undefined> {
  const relyingParty = relyingPartyOf(fx.publicUrl);
  const { id, rawId, type, response } = credential;
  const { clientDataJSON, attestationObject, transports = [] } = response;
  try {
    const answer = await verifyRegistrationResponse({
      response: { id, rawId, type, response: { clientDataJSON, attestationObject }, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      expectedType: "webauthn.create",
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!answer.verified || answer.registrationInfo.fmt !== "none") return undefined;
    const { credential: made, credentialBackedUp } = answer.registrationInfo;
    // The envelope's name for it is not signed for; the one inside is.
    if (made.id !== id) return undefined;
    return {
      credentialId: made.id,
      publicKey: base64urlnopad.encode(made.publicKey),
      counter: made.counter,
      transports: JSON.stringify(transports),
      isBackedUp: credentialBackedUp,
    };
  } catch {
    // The library throws for every answer it does not accept, and what it was given is a stranger's.
    return undefined;
  }
}
