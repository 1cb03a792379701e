// Decides whether a stranger's request may continue to work that costs storage. If Turnstile itself fails, the request is refused too: otherwise an
// attacker who causes such a failure could bypass the challenge. An operator who wants the protection accepts that nothing can be sold meanwhile.
import { lengthPrefixed, sha256Hex } from "../../lib/bytes.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import { logAlert } from "../../lib/log.ts";
import type { Result } from "../../lib/result.ts";
import type { Failure } from "../failures.ts";
import {
  type Expected,
  isTokenLike,
  judgeToken,
  serviceFaults,
  type TokenQuestion,
  type TokenVerdict,
} from "./turnstile.ts";

/** The challenge configured by the operator's keys. */
export interface Challenge {
  readonly siteKey: string;
  /** The origin of the widget's script and frame. */
  readonly origin: string;
  readonly ask: (question: TokenQuestion) => Promise<Result<TokenVerdict, Outage>>;
}

interface Attempt extends Expected {
  /** The token as the caller sent it. */
  readonly token: string | undefined;
  readonly ip: string | null;
  /**
   * The operation for which the token is accepted; undefined without an idempotency key. The same token passes again for the same operation, so that
   * a request whose response was lost can be repeated, but for no other operation.
   */
  readonly operation: string | undefined;
}

/** Undefined if the request may continue; otherwise CHALLENGE_REQUIRED (no token was sent), CHALLENGE_FAILED or CHALLENGE_UNAVAILABLE. */
export async function passChallenge(challenge: Challenge, of: Attempt): Promise<Failure | undefined> {
  const { token = "", ip, action, operation } = of;
  const { siteKey } = challenge;
  if (token === "") return { code: "CHALLENGE_REQUIRED", siteKey, action };
  if (!isTokenLike(token)) return { code: "CHALLENGE_FAILED", siteKey, action };
  const onceId = operation === undefined ? undefined : uuidOf([token, operation]);
  const asked = await challenge.ask({ token, ip, onceId });
  if (!asked.ok) return unavailable(asked.error.kind);
  switch (judgeToken(asked.value, of)) {
    case "passed":
      return undefined;
    case "failed":
      return { code: "CHALLENGE_FAILED", siteKey, action };
    case "unknown":
      return unavailable(serviceFaults(asked.value).join(", "));
  }
}

function unavailable(why: string): Failure {
  // This also happens if our own secret is wrong, which only the operator can correct.
  logAlert("a challenge could not be verified: see TURNSTILE_SECRET_KEY in docs/operations/deploy.md", { why });
  return { code: "CHALLENGE_UNAVAILABLE" };
}

/** Derives a UUID from these texts. It has the form of a random UUID (RFC 9562, version 4), like the examples in Turnstile's documentation. */
function uuidOf(parts: readonly string[]): string {
  const hex = sha256Hex(lengthPrefixed(parts));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
