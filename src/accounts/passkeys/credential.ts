// What browsers send (WebAuthn "PublicKeyCredential.toJSON()"), whom authenticators answer, and what each challenge is bound to
// (exact origin and RP id, user verification required, each challenge once).
import { base64urlnopad } from "@scure/base";
import { sha256Hex, utf8ToBytes } from "../../lib/bytes.ts";
import type { SessionId, UserId } from "../../lib/ids.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export const CHALLENGE_LIFETIME_MS = 5 * MINUTE_MS;
/** COSE: ECDSA over P-256. */
export const ES256 = -7;
/** COSE: EdDSA, ES256 and RS256, what authenticators speak and Workers verify. */
export const ALGORITHMS: readonly number[] = [-8, ES256, -257];
export const RP_NAME = "Edgetill";

export type ChallengeKind = "PASSKEY_REGISTRATION" | "PASSKEY_SIGN_IN" | "PASSKEY_STEP_UP";

/** Whom authenticators answer: the host and the origin that the operator configured, never what a request says of itself. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** Throws when PUBLIC_URL is not a URL: without it there is no origin to trust. */
export function relyingPartyOf(publicUrl: string): RelyingParty {
  const { hostname, origin } = new URL(publicUrl);
  return { id: hostname, origin };
}

/** An answer to `navigator.credentials.create`; all texts base64url. */
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

/** An answer to `navigator.credentials.get`; all texts base64url. */
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

/** A challenge as it is stored: by its hash, and to whom or which browser it was given. */
export interface Challenge {
  readonly hash: string;
  readonly kind: string;
  readonly userId: UserId | null;
  readonly sessionId: SessionId | null;
  readonly data: string | null;
  readonly expiresAtMs: number;
}

/** Who answers: a browser by its nonce, or a session. */
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

/** What is stored of a browser's nonce: only its hash. */
export function browserData(nonce: string): string {
  return JSON.stringify({ nonceHash: sha256Hex(nonce) });
}

/** WebAuthn "Signature Counter Considerations": a counter that does not grow, where either is not zero, may mean a copied authenticator. */
export function isRolledBack(stored: number, given: number): boolean {
  return (stored !== 0 || given !== 0) && given <= stored;
}

/** The handle under which authenticators file the account: the user's id, no personal data. */
export function userHandleOf(userId: UserId): Uint8Array<ArrayBuffer> {
  return new Uint8Array(utf8ToBytes(userId));
}

/** A sign-in must name its account, because its options named no credential; elsewhere an authenticator may leave the handle out. */
export function isHandleOf(userId: UserId, handle: string | null | undefined, kind: ChallengeKind): boolean {
  if (handle === null || handle === undefined || handle === "") return kind !== "PASSKEY_SIGN_IN";
  return handle === base64urlnopad.encode(userHandleOf(userId));
}
