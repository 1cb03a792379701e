// The pipeline of every merchant route, in the order that is the design (ARCHITECTURE "One request"): authenticate and read, permission,
// rate limit, validate, and only then the work. A 401, 403, 429 or 400 is therefore never remembered by an Idempotency-Key.
import type * as z from "zod";
import { type Db, openDb } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { type ParsedBody, readBody } from "../http/body.ts";
import { type AppContext, callerIp } from "../http/context.ts";
import { failureResponse } from "../http/errors.ts";
import { type RateVerdict, rateLimitHeaders } from "../http/rate-limit.ts";
import type { RouteSpec } from "../http/route.ts";
import { answerHeaders } from "../http/security-headers.ts";
import { validate } from "../http/validate.ts";
import type { Json } from "../lib/canonical-json.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { requestSleep, type Sleep } from "../lib/sleep.ts";
import { keyPermissionName, type Permission } from "../teams/permissions.ts";
import { containsSecret, type SecretForms } from "../wallets/secret-material.ts";
import { apiKeyKind } from "./api-key.ts";
import { type Authenticated, authenticate, noteKeyUse, type Statements } from "./authenticate.ts";
import type { ApiKeyPrincipal } from "./principal.ts";

const DEFAULT_PER_MINUTE = 300;
/** decisions 7: what one browser may ask of a public key in a minute. */
const PUBLIC_KEY_PER_MINUTE_AND_IP = 30;

/** What a handler gets: a proved caller, what was read for it, and a valid request. */
export interface MerchantCall<Body, Query, R extends Statements, Fx = unknown> extends Authenticated<R> {
  /** The world as the route's operations take it. */
  readonly fx: Fx;
  readonly env: Env;
  readonly db: Db;
  readonly nowMs: number;
  readonly body: Body;
  readonly query: Query;
  readonly params: Readonly<Record<string, string>>;
  readonly method: string;
  readonly path: string;
  /** The body before defaults, for the idempotency fingerprint. */
  readonly json: Json | undefined;
  readonly idempotencyKey: string | undefined;
  readonly sleep: Sleep;
  /** The Accept header, where a route has more than one form of its answer. */
  readonly accept: string | undefined;
  readonly background: (work: Promise<unknown>) => void;
}

export interface Reply {
  readonly status: number;
  /** JSON text, or another text with its content type among the headers; a stream where it may be too long to stand in memory. */
  readonly body: string | ReadableStream<Uint8Array> | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a route may key its reads by. The caller is not proved yet: values are bound into queries, and what they find is thrown away. */
export interface ReadInput<Body, Query, Fx> {
  readonly fx: Fx;
  readonly db: Db;
  readonly merchantId: string;
  readonly params: Readonly<Record<string, string>>;
  /** Undefined when the request is not valid; why is told after authentication. */
  readonly request: { readonly body: Body; readonly query: Query } | undefined;
}

export interface MountedRoute {
  readonly spec: RouteSpec;
  readonly handle: (c: AppContext) => Promise<Response>;
}

export interface MerchantRoute<B extends z.ZodType, Q extends z.ZodType, R extends Statements, Fx> {
  readonly spec: RouteSpec<B, Q> & { readonly permission: Permission };
  /** Built once per request. */
  readonly effects: (env: Env, given: { readonly db: Db; readonly nowMs: number; readonly sleep: Sleep }) => Fx;
  /** What to read together with the key; keyed by the path's merchant. */
  readonly reads: (input: ReadInput<z.output<B>, z.output<Q>, Fx>) => R | Promise<R>;
  /** In which forms a private key is looked for in the body, names of members included, before any schema sees it. */
  readonly secrets: SecretForms;
  readonly answer: (call: MerchantCall<z.output<B>, z.output<Q>, R, Fx>) => Promise<Result<Reply, Failure>>;
}

export function merchantRoute<B extends z.ZodType, Q extends z.ZodType, const R extends Statements, Fx>(
  route: MerchantRoute<B, Q, R, Fx>,
): MountedRoute {
  return { spec: route.spec, handle: (c) => respond(c, route) };
}

async function respond<B extends z.ZodType, Q extends z.ZodType, R extends Statements, Fx>(
  c: AppContext,
  route: MerchantRoute<B, Q, R, Fx>,
): Promise<Response> {
  const extra: Record<string, string> = route.spec.isForPublicKeys ? { "access-control-allow-origin": "*" } : {};
  const outcome = await run(c, route, extra);
  const requestId = c.get("requestId");
  if (!outcome.ok) return failureResponse(outcome.error, requestId, extra);
  const { status, body, headers } = outcome.value;
  const own = { "content-type": "application/json; charset=utf-8", ...extra, ...headers };
  return new Response(body, { status, headers: answerHeaders(requestId, own) });
}

async function run<B extends z.ZodType, Q extends z.ZodType, R extends Statements, Fx>(
  c: AppContext,
  route: MerchantRoute<B, Q, R, Fx>,
  headers: Record<string, string>,
): Promise<Result<Reply, Failure>> {
  const { spec } = route;
  const nowMs = c.get("nowMs");
  const db = openDb(c.env.DB);
  const params: Record<string, string> = c.req.param();
  const merchantId = params.merchantId ?? "";
  const parsed = await readBody(c.req.raw);
  const json = parsed.ok ? parsed.value.json : undefined;
  const apiKey = c.req.header("x-api-key");
  // Before anything is asked of anybody: a key that is none costs us nothing.
  if (apiKey === undefined || apiKeyKind(apiKey) === undefined) return err({ code: "UNAUTHORIZED" });
  const request = requestOf(route, parsed, c.req.query());
  const sleep = requestSleep();
  const fx = route.effects(c.env, { db, nowMs, sleep });
  const reads = await route.reads({
    db,
    fx,
    merchantId,
    params,
    request: request.ok ? request.value : undefined,
  });
  const caller = await authenticate(db, { apiKey, merchantId, ip: callerIp(c), nowMs, sleep }, reads);
  if (!caller.ok) return caller;
  const { principal } = caller.value;
  const refusal = accessRefusal(spec, route.spec.permission, principal) ?? (await limit(c, principal, headers));
  if (refusal !== undefined) return err(refusal);
  const background = (work: Promise<unknown>) => c.executionCtx.waitUntil(work.catch(() => undefined));
  if (caller.value.isTouchDue) background(noteKeyUse(db, principal, nowMs));
  if (!request.ok) return request;
  return route.answer({
    ...caller.value,
    ...request.value,
    fx,
    env: c.env,
    db,
    nowMs,
    params,
    json,
    method: spec.method,
    path: c.req.path,
    idempotencyKey: c.req.header("idempotency-key"),
    accept: c.req.header("accept"),
    sleep,
    background,
  });
}

/** A public key is refused by what it is before what it holds is looked at. */
function accessRefusal(spec: RouteSpec, permission: Permission, principal: ApiKeyPrincipal): Failure | undefined {
  if (principal.keyKind === "PUBLIC" && !spec.isForPublicKeys) return { code: "PUBLIC_KEY_FORBIDDEN" };
  if (principal.permissions.has(permission)) return undefined;
  return { code: "PERMISSION_DENIED", permission: keyPermissionName(permission) };
}

async function limit(
  c: AppContext,
  principal: ApiKeyPrincipal,
  headers: Record<string, string>,
): Promise<Failure | undefined> {
  const perMinute = perMinuteOf(c.env.RATE_LIMIT_PER_MINUTE);
  if (perMinute === 0) return undefined;
  const byKey = await take(c, `key:${principal.keyId}`, perMinute);
  if (byKey === undefined) return undefined;
  Object.assign(headers, rateLimitHeaders(perMinute, byKey));
  if (!byKey.isAllowed) return { code: "RATE_LIMITED", retryAfterSeconds: byKey.resetSeconds };
  const ip = callerIp(c);
  if (principal.keyKind === "SECRET" || ip === undefined) return undefined;
  const byIp = await take(c, `pk:${principal.keyId}:${ip}`, PUBLIC_KEY_PER_MINUTE_AND_IP);
  if (byIp === undefined || byIp.isAllowed) return undefined;
  Object.assign(headers, rateLimitHeaders(PUBLIC_KEY_PER_MINUTE_AND_IP, byIp));
  return { code: "RATE_LIMITED", retryAfterSeconds: byIp.resetSeconds };
}

/** The configured limit; what is not a whole number is the default. */
function perMinuteOf(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : DEFAULT_PER_MINUTE;
}

/** Undefined when the limiter cannot be asked: the API stays open (security.md 3). */
async function take(c: AppContext, name: string, perMinute: number): Promise<RateVerdict | undefined> {
  try {
    return await c.env.RATE_LIMITER.getByName(name).take(perMinute, c.get("nowMs"));
  } catch {
    return undefined;
  }
}

function requestOf<B extends z.ZodType, Q extends z.ZodType, R extends Statements, Fx>(
  route: MerchantRoute<B, Q, R, Fx>,
  parsed: Result<ParsedBody, Failure>,
  queryText: Record<string, string>,
): Result<{ readonly body: z.output<B>; readonly query: z.output<Q> }, Failure> {
  if (!parsed.ok) return parsed;
  const { json } = parsed.value;
  // First of all: what follows may name what it found wrong, and a private key must never be echoed (decisions 3).
  if (json !== undefined && containsSecret(json, route.secrets)) return err({ code: "PRIVATE_KEY_REFUSED" });
  const query = validate(route.spec.query, queryText);
  if (!query.ok) return query;
  const body = validate(route.spec.body, json);
  return body.ok ? ok({ body: body.value, query: query.value }) : body;
}
