// What every request carries from its first line on, and the two things that hold for every answer: a request id and security headers. Then
// what a feature makes the dependencies of its operations from.
import type { Context, MiddlewareHandler } from "hono";
import { makeId, newUlid, type RequestId } from "../../lib/ids.ts";
import { log, safeError } from "../../lib/log.ts";
import { requestSleep, type Sleep } from "../../lib/sleep.ts";
import { type Db, openWakingDb } from "../db/client.ts";
import { faultKind } from "../db/retry.ts";
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
  c.set("requestId", makeId("req", newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16)))));
  await next();
  // Answers of routes and refusals have them from the start; pages and documents get them here.
  if (c.res.headers.has("x-request-id")) return;
  for (const [name, value] of Object.entries(answerHeaders(c.get("requestId"), {}))) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};

/** A fault of storage that no operation caught is an outage: 503, and the log has it. */
export function errorResponse(error: unknown, c: AppContext): Response {
  const response = bugResponse(error, c);
  return faultKind(error) === "other" ? response : failureResponse({ code: "STORAGE_UNAVAILABLE" }, c.get("requestId"));
}

/** A bug: a dull answer to the caller, the rest to the log, without anything a caller sent. */
function bugResponse(error: unknown, c: AppContext): Response {
  log("error", { requestId: c.get("requestId"), route: c.req.routePath, ...safeError(error) });
  return failureResponse({ code: "INTERNAL_ERROR" }, c.get("requestId"));
}

/** The caller's address as the edge saw it; undefined where no edge says it. */
export function callerIp(c: AppContext): string | undefined {
  return c.req.header("cf-connecting-ip");
}

/** What every request has before anything is known of its caller. */
export interface GivenDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  /** Runs after the answer; may be lost. */
  readonly background: (work: Promise<unknown>) => void;
}

/** Called at most once for a request. */
export type MakeDependencies<Deps> = (env: Env, given: GivenDependencies) => Deps;

export function givenDependencies(c: AppContext): GivenDependencies {
  const background = (work: Promise<unknown>) => c.executionCtx.waitUntil(work.catch(() => undefined));
  return { db: openWakingDb(c.env, background), nowMs: c.get("nowMs"), sleep: requestSleep(), background };
}
