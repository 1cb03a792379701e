// The credentials that browsers send (WebAuthn "PublicKeyCredential.toJSON()"), the relying party, and the rules of a challenge: exact origin and
// RP id, user verification, single use.
import { base64urlnopad } from "@scure/base";
import { sha256Hex, utf8ToBytes } from "../../lib/bytes.ts";
import type { SessionId, UserId } from "../../lib/ids.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export const CHALLENGE_LIFETIME_MS = 5 * MINUTE_MS;
/** The COSE algorithm ECDSA over P-256. */
export const ES256 = -7;
/** The COSE algorithms EdDSA, ES256 and RS256, which authenticators use and Workers can verify. */
export const ALGORITHMS: readonly number[] = [-8, ES256, -257];
export const RP_NAME = "Edgetill";

export type ChallengeKind = "PASSKEY_REGISTRATION" | "PASSKEY_SIGN_IN" | "PASSKEY_STEP_UP";

/** The relying party: the configured host and origin, never taken from a request. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** Throws if PUBLIC_URL is not a URL, because without it there is no trusted origin. */
export function relyingPartyOf(publicUrl: string): RelyingParty {
  const { hostname, origin } = new URL(publicUrl);
  return { id: hostname, origin };
}

/** The result of `navigator.credentials.create`; all texts are base64url. */
export interface Attestation {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | undefined;
  };
}

/** The result of `navigator.credentials.get`; all texts are base64url. */
export interface Assertion {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null | undefined;
  };
}

/** A stored challenge: its hash, and the user's session or the browser to which it was given. */
export interface Challenge {
  readonly hash: string;
  readonly kind: string;
  readonly userId: UserId | null;
  readonly sessionId: SessionId | null;
  readonly data: string | null;
  readonly expiresAtMs: number;
}

/** Who responds to a challenge: a browser with its nonce, or a session. */
export type Answerer =
  | { readonly kind: "PASSKEY_SIGN_IN"; readonly nonce: string | undefined }
  | {
      readonly kind: "PASSKEY_REGISTRATION" | "PASSKEY_STEP_UP";
      readonly session: { readonly id: SessionId; readonly userId: UserId };
    };

/** Whether a challenge is live and was given to exactly this browser or session, for this purpose. */
export function isChallengeOf(challenge: Challenge, answerer: Answerer, nowMs: number): boolean {
  if (challenge.kind !== answerer.kind || nowMs >= challenge.expiresAtMs) return false;
  if (answerer.kind === "PASSKEY_SIGN_IN")
    return answerer.nonce !== undefined && challenge.data === browserData(answerer.nonce);
  return challenge.sessionId === answerer.session.id && challenge.userId === answerer.session.userId;
}

/** The stored form of a browser's nonce: its hash. */
export function browserData(nonce: string): string {
  return JSON.stringify({ nonceHash: sha256Hex(nonce) });
}

/** WebAuthn "Signature Counter Considerations": a counter that does not increase, unless both are zero, may mean a cloned authenticator. */
export function isRolledBack(stored: number, given: number): boolean {
  return (stored !== 0 || given !== 0) && given <= stored;
}

/** The user handle for authenticators: the user's id, without personal data. */
export function userHandleOf(userId: UserId): Uint8Array<ArrayBuffer> {
  return new Uint8Array(utf8ToBytes(userId));
}

/** A sign-in must include the user handle, because its options named no credential; otherwise an authenticator may omit it. */
export function isHandleOf(userId: UserId, handle: string | null | undefined, kind: ChallengeKind): boolean {
  if (handle === null || handle === undefined || handle === "") return kind !== "PASSKEY_SIGN_IN";
  return handle === base64urlnopad.encode(userHandleOf(userId));
}
