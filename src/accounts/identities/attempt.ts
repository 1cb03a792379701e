// An attempt to sign in with a provider or to link an account at a provider. It is stored encrypted while the browser is at the provider, and is
// found again by its state, which the provider must return unchanged. It works once, within 10 minutes, and only in the browser that began it.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export const ATTEMPT_LIFETIME_MS = 10 * MINUTE_MS;

const attempt = lazily(() =>
  z.strictObject({
    provider: z.enum(["google", "github"]),
    purpose: z.enum(["SIGN_IN", "LINK"]),
    /** The nonce of the ID token, for a provider that issues one. */
    nonce: z.string(),
    /** The PKCE code verifier. */
    codeVerifier: z.string(),
    /** SHA-256 of the browser's nonce cookie. */
    browserHash: z.string(),
    /** A path on our own origin. */
    returnTo: z.string(),
  }),
);

export type Attempt = Readonly<z.output<ReturnType<typeof attempt>>>;

/** The encryption context of an attempt, so that an attempt cannot be decrypted in another row. */
export function attemptContext(hash: string): string {
  return `oauth:${hash}`;
}

/** Parses a stored attempt; throws if it is invalid, which would be a bug. */
export function parseAttempt(json: string): Attempt {
  return attempt().parse(JSON.parse(json));
}

/** Whether a string has the form of our tokens: 256 bits in base64url. */
export function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);
}

const LONGEST_PATH = 6_000;

/**
 * Whether a browser may be redirected to this path after signing in. It must be on our own origin, so it must not contain anything that a browser
 * could read as another origin ("//host", "/\host") or that changes a header.
 */
export function isReturnPath(text: string): boolean {
  if (text.length > LONGEST_PATH || !text.startsWith("/")) return false;
  return !/\/\/|[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed();
}

/** Where a browser goes to enter an emailed code. The page reads the email address from the fragment, which is never sent to a server. */
export function proofPath(returnTo: string, email: string): string {
  const [path = "/"] = returnTo.split("#");
  return `${path}#proof=${encodeURIComponent(email)}`;
}
