// One attempt to sign in elsewhere or to link an account there: what must come back unchanged, sealed while the browser is away. It works once,
// within 10 minutes, and only in the browser that began it.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export const ATTEMPT_LIFETIME_MS = 10 * MINUTE_MS;

const attempt = lazily(() =>
  z.strictObject({
    provider: z.enum(["google", "github"]),
    purpose: z.enum(["SIGN_IN", "LINK"]),
    /** Of the ID token, where the provider gives one. */
    nonce: z.string(),
    /** PKCE. */
    codeVerifier: z.string(),
    /** SHA-256 of the browser's nonce cookie. */
    browserHash: z.string(),
    /** A path on our own origin. */
    returnTo: z.string(),
  }),
);

export type Attempt = Readonly<z.output<ReturnType<typeof attempt>>>;

/** What a sealed attempt is bound to: it opens in no other row. */
export function attemptContext(hash: string): string {
  return `oauth:${hash}`;
}

/** Reads what `JSON.stringify` wrote; throws for anything else, which only a bug can have written. */
export function parseAttempt(json: string): Attempt {
  return attempt().parse(JSON.parse(json));
}

/** Whether a text can be one of our tokens at all: 256 bits in base64url. */
export function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);
}

const LONGEST_PATH = 1_000;

/**
 * Whether a text may be where a browser goes after signing in: a path of our own origin, and nothing that some browser reads as another
 * origin ("//host", "/\host") or that changes a header.
 */
export function isReturnPath(text: string): boolean {
  if (text.length > LONGEST_PATH || !text.startsWith("/")) return false;
  return !/\/\/|[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed();
}

/** Where a browser goes when a mailbox is still to be proved: the page there reads the address from the fragment, which no server sees. */
export function proofPath(returnTo: string, email: string): string {
  const [path = "/"] = returnTo.split("#");
  return `${path}#proof=${encodeURIComponent(email)}`;
}
