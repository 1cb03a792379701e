// Starts the use of a passkey: creates a challenge, stores its hash with the session or browser that gets it, and returns the options for
// `navigator.credentials.get`.
import { base64urlnopad } from "@scure/base";
import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import { sha256Hex } from "../../lib/bytes.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { CommitDependencies } from "../../platform/changes/change.ts";
import { commitBatch } from "../../platform/db/commit-batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ProvedSession } from "../sessions/session.ts";
import type { User } from "../users/user.ts";
import { browserData, CHALLENGE_LIFETIME_MS, relyingPartyOf } from "./credential.ts";
import { requestOptions } from "./options.ts";
import { type ChallengeRow, insertChallenge, selectChallenge, selectCredentials } from "./store.ts";

export interface PasskeyDependencies extends CommitDependencies {
  /** Our own origin, which authenticators must confirm. */
  readonly publicUrl: string;
}

const CHALLENGE_BYTES = 32;

/** Options for a second factor or step-up with one of the user's own passkeys. The challenge works once, for 5 minutes, in this session. */
export async function beginPasskey(
  deps: PasskeyDependencies,
  of: { readonly user: Pick<User, "id">; readonly session: Pick<ProvedSession, "id"> },
): Promise<Result<PublicKeyCredentialRequestOptionsJSON, Failure>> {
  const own = await readWithRetry(deps.sleep, async () => selectCredentials(deps.db, of.user.id));
  if (!own.ok) return own;
  const rpId = relyingPartyOf(deps.publicUrl).id;
  const options = requestOptions({ rpId, challenge: newChallenge(), registered: own.value });
  const kept = await keepChallenge(deps, options.challenge, {
    kind: "PASSKEY_STEP_UP",
    userId: of.user.id,
    sessionId: of.session.id,
    data: null,
  });
  return kept.ok ? ok(options) : kept;
}

/** Options for a sign-in with any passkey that the user selects. The challenge works once, for 5 minutes, in the browser that holds the nonce. */
export async function beginPasskeySignIn(
  deps: PasskeyDependencies,
  of: { readonly nonce: string },
): Promise<Result<PublicKeyCredentialRequestOptionsJSON, Failure>> {
  const options = requestOptions({ rpId: relyingPartyOf(deps.publicUrl).id, challenge: newChallenge() });
  const given = { kind: "PASSKEY_SIGN_IN", userId: null, sessionId: null, data: browserData(of.nonce) } as const;
  const kept = await keepChallenge(deps, options.challenge, given);
  return kept.ok ? ok(options) : kept;
}

/** 256 random bits, base64url. */
export function newChallenge(): string {
  return base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(CHALLENGE_BYTES)));
}

/** Stores the hash of a challenge; `challenge` is base64url, as the browser returns it. */
export async function keepChallenge(
  deps: PasskeyDependencies,
  challenge: string,
  given: Pick<ChallengeRow, "kind" | "userId" | "sessionId" | "data">,
): Promise<Result<undefined, Failure>> {
  const { db, nowMs } = deps;
  const hash = sha256Hex(challenge);
  const row = { hash, ...given, createdAtMs: nowMs, expiresAtMs: nowMs + CHALLENGE_LIFETIME_MS };
  const committed = await commitBatch(deps, () => selectChallenge(db, hash), [insertChallenge(db, row)]);
  if (committed.kind === "conflict") throw new Error("a new challenge is already in use");
  return committed.kind === "committed" ? ok(undefined) : err({ code: "STORAGE_UNAVAILABLE" });
}
