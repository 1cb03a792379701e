// The pipeline of routes that anybody may call before they are known: starting and finishing a sign-in, and links out of mails. Nothing is
// proved here; each route proves what it needs. A page of another origin is refused, so that nobody can be signed in by a stranger; but for routes that
// sign nobody in and read no cookie.
import type * as z from "zod";
import type { Statements } from "../auth/authenticate.ts";
import { type Call, callOf, givenEffects, type MakeEffects, type MountedRoute, requestOf } from "../auth/middleware.ts";
import type { Failure } from "../failures.ts";
import { readBody } from "../http/body.ts";
import { type AppContext, callerIp } from "../http/context.ts";
import { type CookieName, readCookie } from "../http/cookies.ts";
import { publicUrl } from "../http/deployment.ts";
import { failureResponse } from "../http/errors.ts";
import { checkRate, requestsPerMinute } from "../http/rate-check.ts";
import { type Reply, replyResponse } from "../http/reply.ts";
import type { RouteSpec } from "../http/route.ts";
import { FOR_ANY_ORIGIN } from "../http/security-headers.ts";
import type { RequestId } from "../lib/ids.ts";
import { networkOf } from "../lib/ip-network.ts";
import { err, type Result } from "../lib/result.ts";
import { userAgentOf } from "../sessions/middleware.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";

export interface OpenCall<Body, Query, Fx = unknown> extends Omit<Call<Body, Query, Statements, Fx>, "read" | "trail"> {
  /** The value of one of our cookies; undefined when it is absent or empty. */
  readonly cookie: (name: CookieName) => string | undefined;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: RequestId;
}

export interface OpenRoute<B extends z.ZodType, Q extends z.ZodType, Fx> {
  readonly spec: RouteSpec<B, Q> & { readonly callers: "ANYBODY"; readonly permission: null };
  readonly effects: MakeEffects<Fx>;
  readonly answer: (call: OpenCall<z.output<B>, z.output<Q>, Fx>) => Promise<Result<Reply, Failure>>;
}

export function openRoute<B extends z.ZodType, Q extends z.ZodType, Fx>(route: OpenRoute<B, Q, Fx>): MountedRoute {
  return {
    spec: route.spec,
    handle: async (c) => {
      const headers: Record<string, string> = { ...(route.spec.isForAnyOrigin ? FOR_ANY_ORIGIN : {}) };
      const outcome = await run(c, route, headers);
      if (!outcome.ok) return failureResponse(outcome.error, c.get("requestId"), headers);
      return replyResponse(c, outcome.value, headers);
    },
  };
}

async function run<B extends z.ZodType, Q extends z.ZodType, Fx>(
  c: AppContext,
  route: OpenRoute<B, Q, Fx>,
  headers: Record<string, string>,
): Promise<Result<Reply, Failure>> {
  const { spec } = route;
  const parsed = await readBody(c.req.raw);
  const origin = c.req.header("origin");
  const isOursOnly = spec.method !== "GET" && !spec.isForAnyOrigin;
  if (isOursOnly && origin !== undefined && origin !== publicUrl(c.env)) return err({ code: "ORIGIN_NOT_ALLOWED" });
  const limited = await limitByIp(c, headers);
  if (limited !== undefined) return err(limited);
  const request = requestOf({ spec, secrets: FREE_TEXT }, parsed, c.req.query());
  if (!request.ok) return request;
  const given = givenEffects(c);
  return route.answer({
    ...callOf(c, spec, given, parsed),
    ...request.value,
    fx: route.effects(c.env, given),
    cookie: (name) => readCookie(c.env, c.req.header("cookie"), name) || undefined,
    ip: callerIp(c) ?? null,
    userAgent: userAgentOf(c),
    requestId: c.get("requestId"),
  });
}

/** Per address of the caller, where the edge tells it: there is no principal yet (decisions 8). */
export async function limitByIp(c: AppContext, headers: Record<string, string>): Promise<Failure | undefined> {
  const perMinute = requestsPerMinute(c.env);
  const ip = callerIp(c);
  if (perMinute === 0 || ip === undefined) return undefined;
  return checkRate(c, { name: `ip:${networkOf(ip)}`, perMinute, isShown: false }, headers);
}
