// Verifies a token with Turnstile's service (developers.cloudflare.com/turnstile/get-started/server-side-validation).
import * as z from "zod";
import { type BoundedRequest, fetchPlainJson, type Outage, outage } from "../../lib/fetch-text.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { TokenQuestion, TokenVerdict, TurnstileKeys } from "./turnstile.ts";

/** Short, because a customer waits for the answer. */
const TIMEOUT_MS = 5 * SECOND_MS;
const LIMIT_BYTES = 16_384;

const answer = lazily(() =>
  z.object({
    success: z.boolean(),
    hostname: z.string().nullish(),
    action: z.string().nullish(),
    "error-codes": z.array(z.string()).nullish(),
  }),
);

interface TurnstileSettings extends Pick<TurnstileKeys, "secretKey" | "origin"> {
  readonly fetch: BoundedRequest["fetch"];
  /** The time limit for the whole response. */
  readonly timeoutMs?: number;
}

/** Turnstile's answer, or why there is none. */
export async function askTurnstile(
  { fetch, origin, secretKey, timeoutMs = TIMEOUT_MS }: TurnstileSettings,
  { token, ip, onceId }: TokenQuestion,
): Promise<Result<TokenVerdict, Outage>> {
  const json = JSON.stringify({
    secret: secretKey,
    response: token,
    ...(ip === null ? {} : { remoteip: ip }),
    ...(onceId === undefined ? {} : { idempotency_key: onceId }),
  });
  const url = `${origin}/turnstile/v0/siteverify`;
  const read = await fetchPlainJson({ fetch, url, json, timeoutMs, limitBytes: LIMIT_BYTES });
  if (!read.ok) return read;
  const parsed = answer().safeParse(read.value);
  if (!parsed.success) return err(outage("UNEXPECTED_SHAPE", z.prettifyError(parsed.error)));
  const { success, hostname, action, "error-codes": errors } = parsed.data;
  return ok({
    isSolved: success,
    hostname: hostname ?? undefined,
    action: action ?? undefined,
    errors: errors ?? [],
  });
}
