// Asks the limiter of one caller (security.md 3). When it cannot be asked, the API stays open.
import type { Failure } from "../failures.ts";
import { isLoopback, networkOf } from "../lib/ip-network.ts";
import type { AppContext } from "./context.ts";
import { isDevelopment } from "./deployment.ts";
import { type RateLimiterRpc, type RateVerdict, rateLimitHeaders } from "./rate-limit.ts";

const DEFAULT_PER_MINUTE = 300;

/** The configured limit of one caller in a minute, 0 for none; what is not a whole number is the default. */
export function requestsPerMinute(env: Pick<Env, "RATE_LIMIT_PER_MINUTE">): number {
  const text: string | undefined = env.RATE_LIMIT_PER_MINUTE;
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : DEFAULT_PER_MINUTE;
}

/** Counts one request of the caller `name`; writes its headers into `headers` (`isShown` always, otherwise when refused). */
export async function checkRate(
  c: AppContext,
  of: { readonly name: string; readonly perMinute: number; readonly isShown: boolean },
  headers: Record<string, string>,
): Promise<Failure | undefined> {
  const verdict = await take(c, of.name, of.perMinute);
  if (verdict === undefined) return undefined;
  if (of.isShown || !verdict.isAllowed) Object.assign(headers, rateLimitHeaders(of.perMinute, verdict));
  return verdict.isAllowed ? undefined : { code: "RATE_LIMITED", retryAfterSeconds: verdict.resetSeconds };
}

/**
 * Counts one act of a caller's address, as `of` takes it from the limiter of that kind of act: seconds to wait where there were too many, else 0.
 * Nobody is counted where nothing tells the address, nor a development server's own machine; a limiter that cannot be asked leaves the door open.
 */
export async function waitOfIp(
  env: Pick<Env, "RATE_LIMITER" | "ENVIRONMENT">,
  ip: string | null,
  of: { readonly act: string; readonly take: (limiter: RateLimiterRpc) => Promise<RateVerdict> },
): Promise<number> {
  if (ip === null || (isDevelopment(env) && isLoopback(ip))) return 0;
  try {
    const { isAllowed, resetSeconds } = await of.take(env.RATE_LIMITER.getByName(`${of.act}:${networkOf(ip)}`));
    return isAllowed ? 0 : resetSeconds;
  } catch {
    return 0;
  }
}

async function take(c: AppContext, name: string, perMinute: number): Promise<RateVerdict | undefined> {
  try {
    return await c.env.RATE_LIMITER.getByName(name).take(perMinute, c.get("nowMs"));
  } catch {
    return undefined;
  }
}
