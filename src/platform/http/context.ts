// The context of every request (its id and start time), the headers of every response (request id, security headers), and the responses to thrown
// errors.
import type { Context, MiddlewareHandler } from "hono";
import { writePoint } from "../../lib/data-point.ts";
import { makeId, newUlid, parseId, type RequestId } from "../../lib/ids.ts";
import { log, safeError } from "../../lib/log.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { logWork } from "../../lib/work-log.ts";
import type { Db } from "../db/client.ts";
import { Meter } from "../db/meter.ts";
import { faultKind, unavailable } from "../db/retry.ts";
import type { Failure, FailureCode } from "../failures.ts";
import { failureResponse } from "./errors.ts";
import { answerHeaders } from "./security-headers.ts";

export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: RequestId;
    nowMs: number;
    /** Counts the request's D1 usage. */
    meter: Meter;
    /** The operation of the route. */
    operationId: string | undefined;
    /** The code of the failure with which the request was refused. */
    refusal: FailureCode | undefined;
  };
}

export type AppContext = Context<AppEnv>;

export const requestContext: MiddlewareHandler<AppEnv> = async (c, next) => {
  const nowMs = Date.now();
  c.set("nowMs", nowMs);
  c.set("requestId", newRequestId(nowMs));
  c.set("meter", new Meter());
  await next();
  noteRequest(c);
  // Responses of routes and refusals already have these headers; pages and documents get them here.
  if (c.res.headers.has("x-request-id")) return;
  for (const [name, value] of Object.entries(answerHeaders(c.get("requestId"), {}))) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};

function newRequestId(nowMs: number): RequestId {
  return makeId("req", newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16))));
}

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"];

/** Writes the request's log line. Leaves out unknown paths and methods, which are the caller's own text. */
function noteRequest(c: AppContext): void {
  const { routePath, method } = c.req;
  const { status } = c.res;
  const path = routePath === "*" || routePath === "/*" ? "none" : routePath;
  const facts = {
    requestId: c.get("requestId"),
    route: `${METHODS.includes(method) ? method : "OTHER"} ${path}`,
    merchantId: parseId("mer", c.req.param("merchantId") ?? "") ?? null,
    status,
    code: c.get("refusal") ?? null,
  };
  const done = { ms: Date.now() - c.get("nowMs"), cost: c.get("meter").cost };
  logWork({ work: "request", ...done, isFault: status >= 500, facts }, c.env, Math.random());
  const { code, merchantId } = facts;
  const isCreate = CREATES.includes(c.get("operationId") ?? "") && status < 400;
  if (isCreate && !c.res.headers.has("idempotent-replayed"))
    writePoint(c.env, { kind: "create", subject: "", merchantId, value: 1, ...done });
  // Only for our own routes, because requests to other paths come from strangers and would only distort the counts.
  if (code !== null && c.get("operationId") !== undefined)
    writePoint(c.env, { kind: "refusal", subject: code, merchantId, value: 1, ...done });
}

/** The operations that create an invoice. */
const CREATES: readonly string[] = ["createInvoice", "buyProduct"];

/** The response to a thrown error. */
export function errorResponse(error: unknown, c: AppContext): Response {
  const requestId = c.get("requestId");
  return refuse(c, failureOf(error, { requestId, route: c.req.routePath }));
}

/** The response to a failure; its code is in the request's log line. */
export function refuse(c: AppContext, failure: Failure, own: Readonly<Record<string, string>> = {}): Response {
  c.set("refusal", failure.code);
  return failureResponse(failure, c.get("requestId"), own);
}

/**
 * The failure that a thrown error becomes: the error is a storage fault that no operation caught, or a bug. Logs the error without anything that the
 * caller sent; the response reveals nothing about it.
 */
export function failureOf(error: unknown, of: { readonly requestId: RequestId; readonly route: string }): Failure {
  log("error", { ...of, ...safeError(error) });
  return faultKind(error) === "other" ? { code: "INTERNAL_ERROR" } : unavailable(error);
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
