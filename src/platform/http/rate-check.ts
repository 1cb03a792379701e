// Counts requests against the rate limiters. A limiter that fails lets the request pass.

import { type CallerNetwork, callersOf, isLoopback } from "../../lib/ip-network.ts";
import { LIMITS } from "../../lib/limits.ts";
import { objectOf } from "../../lib/object-of.ts";
import type { Failure } from "../failures.ts";
import type { CountedAs } from "./counted-callers.ts";
import { isDevelopment } from "./deployment.ts";
import type { Incoming } from "./incoming.ts";
import { type RateLimiterRpc, type RateVerdict, rateLimitHeaders, WINDOW_SECONDS } from "./rate-limit.ts";

/** The configured limit per caller and minute; 0 means no limit. A value that is not a whole number counts as unset. */
function requestsPerMinute(env: Pick<Env, "RATE_LIMIT_PER_MINUTE">): number {
  const text: string | undefined = env.RATE_LIMIT_PER_MINUTE;
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : LIMITS.requestsPerCallerAndMinute;
}

/** Counts one request from the caller `name`. Adds rate-limit headers to `headers`: always if `isShown`, otherwise only for a refusal. */
async function checkRate(
  incoming: Incoming,
  of: { readonly name: string; readonly perMinute: number; readonly isShown: boolean },
  headers: Record<string, string>,
): Promise<Failure | undefined> {
  const verdict = await take(incoming, of.name, of.perMinute);
  if (verdict === undefined) return undefined;
  if (of.isShown || !verdict.isAllowed) Object.assign(headers, rateLimitHeaders(of.perMinute, verdict));
  return verdict.isAllowed ? undefined : { code: "RATE_LIMITED", retryAfterSeconds: verdict.resetSeconds };
}

/** Counts one request of the kind `act` from an IP address. If it is over the limit, adds the rate-limit headers to `headers`. */
async function checkRateOfIp(
  incoming: Incoming,
  of: { readonly act: string; readonly ip: string; readonly perMinute: number },
  headers: Record<string, string>,
): Promise<Failure | undefined> {
  for (const { network, times } of callersOf(of.ip)) {
    const counted = { name: `${of.act}:${network}`, perMinute: of.perMinute * times, isShown: false };
    const refused = await checkRate(incoming, counted, headers);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/**
 * Counts one request from an authenticated caller. Where anyone can see the key, the limit of the caller's IP address comes first: one address that
 * sends too much must not use up the key's limit for all others.
 */
export async function limitCaller(
  incoming: Incoming,
  { name, act }: CountedAs,
  headers: Record<string, string>,
): Promise<Failure | undefined> {
  const perMinute = requestsPerMinute(incoming.env);
  if (perMinute === 0) return undefined;
  const { ip } = incoming;
  if (act !== undefined && ip !== undefined) {
    const byIp = { act, ip, perMinute: LIMITS.publicKeyRequestsPerIpAndMinute };
    const refused = await checkRateOfIp(incoming, byIp, headers);
    if (refused !== undefined) return refused;
  }
  return checkRate(incoming, { name, perMinute, isShown: true }, headers);
}

/** Counts one request from an unauthenticated caller by IP address (decisions 8); not counted if the edge reports no address. */
export async function limitByIp(incoming: Incoming, headers: Record<string, string>): Promise<Failure | undefined> {
  const perMinute = requestsPerMinute(incoming.env);
  const { ip } = incoming;
  if (perMinute === 0 || ip === undefined) return undefined;
  return checkRateOfIp(incoming, { act: "ip", ip, perMinute }, headers);
}

/**
 * The refusal for a request with a failed credential, counted by the sender's network at the edge location that serves it, which needs no storage.
 * Counted only after the failure, so that other callers' attempts never cause a valid credential to be refused.
 */
export async function failedCredential({ env, ip }: Pick<Incoming, "env" | "ip">): Promise<Failure> {
  const [own] = countedCallers(env, ip ?? null);
  const verdict = own && (await env.FAILED_CREDENTIALS.limit({ key: own.network }).catch(() => undefined));
  const isOver = verdict?.success === false;
  return isOver ? { code: "RATE_LIMITED", retryAfterSeconds: WINDOW_SECONDS } : { code: "UNAUTHORIZED" };
}

/** The networks counted for an IP address; empty if the address is unknown, or loopback in development. */
export function countedCallers(env: Pick<Env, "ENVIRONMENT">, ip: string | null): readonly CallerNetwork[] {
  return ip === null || (isDevelopment(env) && isLoopback(ip)) ? [] : callersOf(ip);
}

/**
 * Counts one act by an IP address with `of.take`; `times` multiplies the limit for larger networks. Returns the seconds to wait if the limit is
 * exceeded, else 0. A limiter that fails returns 0.
 */
export async function waitOfIp(
  env: Pick<Env, "RATE_LIMITER" | "LOCATION_HINT" | "ENVIRONMENT">,
  ip: string | null,
  of: { readonly act: string; readonly take: (limiter: RateLimiterRpc, times: number) => Promise<RateVerdict> },
): Promise<number> {
  for (const { network, times } of countedCallers(env, ip)) {
    const waitSeconds = await waitBy(env, `${of.act}:${network}`, (limiter) => of.take(limiter, times));
    if (waitSeconds > 0) return waitSeconds;
  }
  return 0;
}

/** Like `waitOfIp`, but counts the acts of all of a merchant's callers together. */
export function waitOfMerchant(
  env: Pick<Env, "RATE_LIMITER" | "LOCATION_HINT">,
  act: string,
  take: (limiter: RateLimiterRpc) => Promise<RateVerdict>,
): (merchantId: string) => Promise<number> {
  return (merchantId) => waitBy(env, `${act}:${merchantId}`, take);
}

/** Seconds to wait; 0 if the limiter fails. */
async function waitBy(
  env: Pick<Env, "RATE_LIMITER" | "LOCATION_HINT">,
  name: string,
  counted: (limiter: RateLimiterRpc) => Promise<RateVerdict>,
): Promise<number> {
  try {
    const { isAllowed, resetSeconds } = await counted(objectOf(env, env.RATE_LIMITER, name));
    return isAllowed ? 0 : resetSeconds;
  } catch {
    return 0;
  }
}

async function take(incoming: Incoming, name: string, perMinute: number): Promise<RateVerdict | undefined> {
  const { env, nowMs, merchantContext } = incoming;
  const limiter = (): RateLimiterRpc => objectOf(env, env.RATE_LIMITER, name);
  const group = merchantContext?.storage.db.group;
  try {
    if (group === undefined) return await limiter().take(perMinute, nowMs);
    const takeEach = (times: readonly number[]) => limiter().takeEach(perMinute, times);
    return await group.ask(`take ${name}`, nowMs, takeEach, "BESIDE_READ");
  } catch {
    return undefined;
  }
}
