// Decides whether a stranger's request may continue to work that costs storage. Turnstile's own faults refuse the request too: an operator who wants the
// protection would rather sell nothing for a while than lose it, and attackers could cause the fault.
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
  /** As sent. */
  readonly token: string | undefined;
  readonly ip: string | null;
  /**
   * Names the operation that the token pays for; undefined without an idempotency key. The same token passes again for the same operation, so that a request
   * whose answer was lost can be repeated, but for no other operation.
   */
  readonly operation: string | undefined;
}

/** Undefined if the request may continue. Refuses CHALLENGE_REQUIRED without a token, CHALLENGE_FAILED or CHALLENGE_UNAVAILABLE. */
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
  // Also if our own secret is wrong, which only the operator can correct.
  logAlert("a challenge could not be verified: see TURNSTILE_SECRET_KEY in docs/operations/deploy.md", { why });
  return { code: "CHALLENGE_UNAVAILABLE" };
}

/** A UUID of these texts, in the form of a random one (RFC 9562, version 4), which is what the service's documentation shows. */
function uuidOf(parts: readonly string[]): string {
  const hex = sha256Hex(lengthPrefixed(parts));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
