// The context of every request (its id and start time), the headers of every response (request id, security headers), the responses to thrown
// errors.
import type { Context, MiddlewareHandler } from "hono";
import { makeId, newUlid, type RequestId } from "../../lib/ids.ts";
import { log, safeError } from "../../lib/log.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../db/client.ts";
import { faultKind } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { failureResponse } from "./errors.ts";
import { answerHeaders } from "./security-headers.ts";

export interface AppEnv {
  Bindings: Env;
  Variables: { requestId: RequestId; nowMs: number };
}

export type AppContext = Context<AppEnv>;

export const requestContext: MiddlewareHandler<AppEnv> = async (c, next) => {
  const nowMs = Date.now();
  c.set("nowMs", nowMs);
  c.set("requestId", newRequestId(nowMs));
  await next();
  // Responses of routes and refusals already have these headers; pages and documents get them here.
  if (c.res.headers.has("x-request-id")) return;
  for (const [name, value] of Object.entries(answerHeaders(c.get("requestId"), {}))) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};

function newRequestId(nowMs: number): RequestId {
  return makeId("req", newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16))));
}

/** The response to a thrown error. */
export function errorResponse(error: unknown, c: AppContext): Response {
  const requestId = c.get("requestId");
  return failureResponse(failureOf(error, { requestId, route: c.req.routePath }), requestId);
}

/**
 * The failure of a thrown error: a storage fault that no operation caught, or a bug. Logs the error without anything that the caller sent; the
 * response says nothing about it.
 */
export function failureOf(error: unknown, of: { readonly requestId: RequestId; readonly route: string }): Failure {
  log("error", { ...of, ...safeError(error) });
  return { code: faultKind(error) === "other" ? "INTERNAL_ERROR" : "STORAGE_UNAVAILABLE" };
}

/** The caller's IP address as Cloudflare's edge reports it; undefined without the edge. */
export function callerIp(c: AppContext): string | undefined {
  return c.req.header("cf-connecting-ip");
}

/** Dependencies of every request, available before its caller is known. */
export interface GivenDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  /** Runs work after the response; the work may be lost. */
  readonly background: (work: Promise<unknown>) => void;
}

/** Called at most once per request. */
export type MakeDependencies<Deps> = (env: Env, given: GivenDependencies) => Deps;
