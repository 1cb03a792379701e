// Asks for a passkey: makes a challenge, remembers its hash with whom it was given to, and answers the options that a browser hands to
// `navigator.credentials.get`.
import { base64urlnopad } from "@scure/base";
import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import type { Db } from "../db/client.ts";
import { commitBatch } from "../db/commit-batch.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { ProvedSession } from "../sessions/session.ts";
import type { Person } from "../users/person.ts";
import { browserData, CHALLENGE_LIFETIME_MS, relyingPartyOf } from "./credential.ts";
import { requestOptions } from "./options.ts";
import { type ChallengeRow, insertChallenge, selectChallenge, selectCredentials } from "./store.ts";

export interface PasskeyEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly newOperationId: () => string;
  /** Our own origin: what authenticators must have seen. */
  readonly publicUrl: string;
}

const CHALLENGE_BYTES = 32;

/** For a second factor or step-up inside a session: one of the person's own passkeys. The challenge works for 5 minutes, once, in this session. */
export async function beginPasskey(
  fx: PasskeyEffects,
  of: { readonly person: Pick<Person, "id">; readonly session: Pick<ProvedSession, "id"> },
): Promise<Result<PublicKeyCredentialRequestOptionsJSON, Failure>> {
  const own = await readWithRetry(fx.sleep, async () => selectCredentials(fx.db, of.person.id));
  if (!own.ok) return own;
  const rpId = relyingPartyOf(fx.publicUrl).id;
  const options = requestOptions({ rpId, challenge: newChallenge(), registered: own.value });
  const kept = await keepChallenge(fx, options.challenge, {
    kind: "PASSKEY_STEP_UP",
    userId: of.person.id,
    sessionId: of.session.id,
    data: null,
  });
  return kept.ok ? ok(options) : kept;
}

/** For a sign-in: whichever passkey the person picks. The challenge works for 5 minutes, once, in the browser that holds the nonce. */
export async function beginPasskeySignIn(
  fx: PasskeyEffects,
  of: { readonly nonce: string },
): Promise<Result<PublicKeyCredentialRequestOptionsJSON, Failure>> {
  const options = requestOptions({ rpId: relyingPartyOf(fx.publicUrl).id, challenge: newChallenge() });
  const given = { kind: "PASSKEY_SIGN_IN", userId: null, sessionId: null, data: browserData(of.nonce) } as const;
  const kept = await keepChallenge(fx, options.challenge, given);
  return kept.ok ? ok(options) : kept;
}

/** 256 random bits, base64url. */
export function newChallenge(): string {
  return base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(CHALLENGE_BYTES)));
}

/** `challenge` base64url, as the browser will name it. */
export async function keepChallenge(
  fx: PasskeyEffects,
  challenge: string,
  given: Pick<ChallengeRow, "kind" | "userId" | "sessionId" | "data">,
): Promise<Result<undefined, Failure>> {
  const { db, nowMs } = fx;
  const hash = sha256Hex(challenge);
  const row = { hash, ...given, createdAtMs: nowMs, expiresAtMs: nowMs + CHALLENGE_LIFETIME_MS };
  const isKept = async () => {
    const rows = await readWithRetry(fx.sleep, async () => selectChallenge(db, hash));
    return rows.ok && rows.value.length === 1;
  };
  const committed = await commitBatch(fx, isKept, [insertChallenge(db, row)]);
  if (committed.kind === "conflict") throw new Error("a fresh challenge is taken");
  return committed.kind === "stands" ? ok(undefined) : err({ code: "STORAGE_UNAVAILABLE" });
}
