// The context of every request (its id and start time), the headers of every response (request id, security headers), the responses to thrown
// errors, and the values from which features build the dependencies of their operations.
import type { Context, MiddlewareHandler } from "hono";
import { makeId, newUlid, type RequestId } from "../../lib/ids.ts";
import { log, safeError } from "../../lib/log.ts";
import { requestSleep, type Sleep } from "../../lib/sleep.ts";
import { type Db, openWakingDb } from "../db/client.ts";
import { databaseOf, databaseWithoutMerchant } from "../db/databases.ts";
import { faultKind } from "../db/retry.ts";
import { failureResponse } from "./errors.ts";
import type { Bindings } from "./merchant-context.ts";
import { answerHeaders } from "./security-headers.ts";

export interface AppEnv {
  Bindings: Bindings;
  Variables: { requestId: RequestId; nowMs: number };
}

export type AppContext = Context<AppEnv>;

export const requestContext: MiddlewareHandler<AppEnv> = async (c, next) => {
  const nowMs = Date.now();
  c.set("nowMs", nowMs);
  c.set("requestId", c.env.merchantContext?.requestId ?? newRequestId(nowMs));
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

/** The response to a thrown error: 503 for a storage fault that no operation caught, otherwise 500. Both are logged. */
export function errorResponse(error: unknown, c: AppContext): Response {
  const response = bugResponse(error, c);
  return faultKind(error) === "other" ? response : failureResponse({ code: "STORAGE_UNAVAILABLE" }, c.get("requestId"));
}

/** Logs the error without anything that the caller sent; the response says nothing about it. */
function bugResponse(error: unknown, c: AppContext): Response {
  log("error", { requestId: c.get("requestId"), route: c.req.routePath, ...safeError(error) });
  return failureResponse({ code: "INTERNAL_ERROR" }, c.get("requestId"));
}

/** The caller's IP address as Cloudflare's edge reports it; undefined without the edge. */
export function callerIp(c: AppContext): string | undefined {
  const { merchantContext } = c.env;
  return merchantContext === undefined ? c.req.header("cf-connecting-ip") : (merchantContext.ip ?? undefined);
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

export function givenDependencies(c: AppContext): GivenDependencies {
  const background = (work: Promise<unknown>) => c.executionCtx.waitUntil(work.catch(() => undefined));
  const db = openWakingDb(databaseOfPath(c), c.env, background, c.env.merchantContext?.group);
  return { db, nowMs: c.get("nowMs"), sleep: requestSleep(), background };
}

/** The database of the merchant that the path names, or of the merchant's invoice or product; else that of accounts. */
function databaseOfPath(c: AppContext): D1Database {
  const id = c.req.param("merchantId") ?? c.req.param("invoiceId") ?? c.req.param("productId");
  return id === undefined ? databaseWithoutMerchant(c.env, "ACCOUNTS") : databaseOf(c.env, id);
}
