// Cloudflare Turnstile: the operator's keys, and which answer from its service counts as a solved challenge. Without keys there is no challenge.
import { err, ok, type Result } from "../../lib/result.ts";

/** The origin of the widget's script, its frame and the service. */
const ORIGIN = "https://challenges.cloudflare.com";
/** The longest token that the service makes. */
const LONGEST_TOKEN = 2_048;

/** The action that a token is for. The widget names it, so that a token from a product page cannot create an invoice with a public key. */
type ChallengeAction = "buy" | "invoice";

export interface TurnstileKeys {
  /** Public: the page contains it. */
  readonly siteKey: string;
  readonly secretKey: string;
  readonly origin: string;
}

/** The variables; one that was never set is undefined. TURNSTILE_ORIGIN is for development only. */
export interface TurnstileVariables {
  readonly ENVIRONMENT: string | undefined;
  readonly TURNSTILE_SITE_KEY?: string | undefined;
  readonly TURNSTILE_SECRET_KEY?: string | undefined;
  readonly TURNSTILE_ORIGIN?: string | undefined;
}

/** Undefined without keys: then there is no challenge. The error never repeats a value. */
export function parseTurnstile(of: TurnstileVariables): Result<TurnstileKeys | undefined, string> {
  const siteKey = (of.TURNSTILE_SITE_KEY ?? "").trim();
  const secretKey = (of.TURNSTILE_SECRET_KEY ?? "").trim();
  if (siteKey === "" && secretKey === "") return ok(undefined);
  if (siteKey === "" || secretKey === "")
    return err("TURNSTILE_SITE_KEY and TURNSTILE_SECRET_KEY belong together: one is missing, so nobody is challenged");
  if (![siteKey, secretKey].every((key) => /^[\x21-\x7e]{1,200}$/.test(key)))
    return err("TURNSTILE_SITE_KEY and TURNSTILE_SECRET_KEY are at most 200 characters without spaces");
  const standIn = of.ENVIRONMENT === "development" ? URL.parse(of.TURNSTILE_ORIGIN ?? "") : null;
  return ok({ siteKey, secretKey, origin: standIn?.origin ?? ORIGIN });
}

export interface TokenQuestion {
  readonly token: string;
  readonly ip: string | null;
  /** A UUID. If it is sent again with the same token, the service repeats its answer instead of reporting the token as used. */
  readonly onceId: string | undefined;
}

/** The service's verdict on a token. */
export interface TokenVerdict {
  readonly isSolved: boolean;
  /** The host that showed the widget. */
  readonly hostname: string | undefined;
  readonly action: string | undefined;
  /** Why the challenge is not solved; `timeout-or-duplicate` for a token that is too old or was used before. */
  readonly errors: readonly string[];
}

/** The action and the host that a token must be for. */
export interface Expected {
  readonly action: ChallengeAction;
  /** The host of the page with the widget; undefined if unknown. */
  readonly hostname: string | undefined;
}

/** Errors that do not concern the token: our secret is wrong, or the service has a fault. */
const NOT_THE_TOKENS = ["missing-input-secret", "invalid-input-secret", "bad-request", "internal-error"];

/** The errors in a verdict that do not concern the token. */
export function serviceFaults({ errors }: Pick<TokenVerdict, "errors">): readonly string[] {
  return errors.filter((each) => NOT_THE_TOKENS.includes(each));
}

/** `unknown`: the service has not verified the token. */
export function judgeToken(verdict: TokenVerdict, expected: Expected): "passed" | "failed" | "unknown" {
  if (!verdict.isSolved) return serviceFaults(verdict).length > 0 ? "unknown" : "failed";
  if (verdict.action !== expected.action) return "failed";
  return expected.hostname === undefined || verdict.hostname === expected.hostname ? "passed" : "failed";
}

/** Whether the text may be a token; only then is the service asked. */
export function isTokenLike(token: string): boolean {
  return token.length <= LONGEST_TOKEN && /^[\x21-\x7e]+$/.test(token);
}

/** The host of a page's origin, as the service names it; undefined if it is absent or opaque. */
export function hostnameOf(origin: string | undefined): string | undefined {
  return URL.parse(origin ?? "")?.hostname || undefined;
}
