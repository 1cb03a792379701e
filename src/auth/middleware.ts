// The pipeline of every merchant route, in the order that is the design (ARCHITECTURE "One request"): authenticate and read, permission,
// rate limit, validate, and only then the work. A 401, 403, 429 or 400 is therefore never remembered by an Idempotency-Key. A key and a
// member's session go through the same table of permissions.
import type { BatchResponse } from "drizzle-orm/batch";
import type * as z from "zod";
import type { Trail } from "../audit/entry.ts";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { type ParsedBody, readBody } from "../http/body.ts";
import { type AppContext, callerIp } from "../http/context.ts";
import { readCookie } from "../http/cookies.ts";
import { publicUrl } from "../http/deployment.ts";
import { failureResponse } from "../http/errors.ts";
import { checkRate, requestsPerMinute } from "../http/rate-check.ts";
import { type Reply, replyResponse } from "../http/reply.ts";
import type { RouteSpec } from "../http/route.ts";
import { FOR_ANY_ORIGIN } from "../http/security-headers.ts";
import { validate } from "../http/validate.ts";
import { configuredProviders } from "../identities/providers.ts";
import type { Json } from "../lib/canonical-json.ts";
import { networkOf } from "../lib/ip-network.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { requestSleep, type Sleep } from "../lib/sleep.ts";
import type { MerchantRow } from "../merchants/store.ts";
import { keyPermissionName, type Permission } from "../teams/permissions.ts";
import { containsSecret, type SecretForms } from "../wallets/secret-material.ts";
import { openWakingDb } from "../webhooks/effects.ts";
import { apiKeyKind } from "./api-key.ts";
import { authenticate, noteKeyUse, type Statements } from "./authenticate.ts";
import { authenticateMember, noteSessionUse } from "./authenticate-session.ts";
import { actorOf, isPublicKey, type MerchantPrincipal, stepUpRefusal } from "./principal.ts";

/** decisions 7: what one browser may ask of a public key in a minute. */
const PUBLIC_KEY_PER_MINUTE_AND_IP = 30;

/** What every handler gets beside its caller: the world, and a valid request. */
export interface Call<Body, Query, R extends Statements, Fx = unknown> {
  /** What was read for the route in the call that proved the caller. */
  readonly read: BatchResponse<R>;
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
  /** For the audit entries of whatever this request changes. */
  readonly trail: Trail;
}

/** What a merchant's handler gets. */
export interface MerchantCall<Body, Query, R extends Statements, Fx = unknown> extends Call<Body, Query, R, Fx> {
  readonly principal: MerchantPrincipal;
  readonly merchant: MerchantRow;
}

/** What a route may key its reads by. The caller is not proved yet: values are bound into queries, and what they find is thrown away. */
export interface ReadInput<Body, Query, Fx> {
  readonly fx: Fx;
  readonly db: Db;
  readonly merchantId: string;
  readonly params: Readonly<Record<string, string>>;
  /** Whether what proves the caller has the form of a public key; what it is in truth is told after authentication. */
  readonly isPublicKeyClaimed: boolean;
  /** Undefined when the request is not valid; why is told after authentication. */
  readonly request: { readonly body: Body; readonly query: Query } | undefined;
}

/** Made once per request, of what each request has. */
export type MakeEffects<Fx> = (env: Env, given: GivenEffects) => Fx;
export interface GivenEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly background: (work: Promise<unknown>) => void;
}

export interface MountedRoute {
  readonly spec: RouteSpec;
  readonly handle: (c: AppContext) => Promise<Response>;
}

export interface MerchantRoute<B extends z.ZodType, Q extends z.ZodType, R extends Statements, Fx> {
  readonly spec: RouteSpec<B, Q> & { readonly permission: Permission; readonly callers: "MEMBER" | "MEMBER_OR_KEY" };
  readonly effects: MakeEffects<Fx>;
  /** What to read together with the caller; keyed by the path's merchant. */
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
  const extra: Record<string, string> = { ...(route.spec.isForPublicKeys ? FOR_ANY_ORIGIN : {}) };
  const outcome = await run(c, route, extra);
  if (!outcome.ok) return failureResponse(outcome.error, c.get("requestId"), extra);
  return replyResponse(c, outcome.value, extra);
}

async function run<B extends z.ZodType, Q extends z.ZodType, R extends Statements, Fx>(
  c: AppContext,
  route: MerchantRoute<B, Q, R, Fx>,
  headers: Record<string, string>,
): Promise<Result<Reply, Failure>> {
  const { spec } = route;
  const parsed = await readBody(c.req.raw);
  // Before anything is asked of anybody: a credential that is none costs us nothing.
  const credential = credentialOf(c, spec);
  if (!credential.ok) return credential;
  const given = givenEffects(c);
  const params: Record<string, string> = c.req.param();
  const merchantId = params.merchantId ?? "";
  const request = requestOf(route, parsed, c.req.query());
  const fx = route.effects(c.env, given);
  const reads = await route.reads({
    db: given.db,
    fx,
    merchantId,
    params,
    isPublicKeyClaimed: credential.value.kind === "API_KEY" && apiKeyKind(credential.value.apiKey) === "PUBLIC",
    request: request.ok ? request.value : undefined,
  });
  const caller = await prove(c, credential.value, { ...given, merchantId }, reads);
  if (!caller.ok) return caller;
  const { principal } = caller.value;
  const refusal = accessRefusal(route.spec, principal, given.nowMs) ?? (await limit(c, principal, headers));
  if (refusal !== undefined) return err(refusal);
  if (caller.value.isTouchDue) given.background(noteUse(given, principal));
  if (!request.ok) return request;
  return route.answer({
    ...callOf(c, spec, given, parsed),
    ...request.value,
    ...caller.value,
    fx,
    trail: trailOf(c, principal),
  });
}

/** What a request says of who sends it. With a key and a cookie the key decides (decisions 1). */
export type Credential =
  | { readonly kind: "API_KEY"; readonly apiKey: string }
  | { readonly kind: "SESSION"; readonly token: string };

export function credentialOf(c: AppContext, spec: RouteSpec): Result<Credential, Failure> {
  const apiKey = c.req.header("x-api-key");
  if (apiKey !== undefined) {
    return apiKeyKind(apiKey) === undefined ? err({ code: "UNAUTHORIZED" }) : ok({ kind: "API_KEY", apiKey });
  }
  const token = readCookie(c.env, c.req.header("cookie"), "session");
  if (token === undefined || token === "") return err({ code: "UNAUTHORIZED" });
  if (spec.method !== "GET" && c.req.header("origin") !== publicUrl(c.env)) return err({ code: "ORIGIN_NOT_ALLOWED" });
  return ok({ kind: "SESSION", token });
}

async function prove<const R extends Statements>(
  c: AppContext,
  credential: Credential,
  of: GivenEffects & { readonly merchantId: string },
  reads: R,
) {
  const { db, nowMs, sleep, merchantId } = of;
  if (credential.kind === "API_KEY") {
    const { apiKey } = credential;
    return authenticate(db, { apiKey, merchantId, ip: callerIp(c), nowMs, sleep }, reads);
  }
  const configured = configuredProviders(c.env.SIGN_IN_PROVIDERS);
  return authenticateMember(db, { token: credential.token, merchantId, configured, nowMs, sleep }, reads);
}

/** Kind of caller, then permission, then role, then step-up. A public key is refused by what it is before what it holds is looked at. */
function accessRefusal(
  spec: RouteSpec & { readonly permission: Permission },
  principal: MerchantPrincipal,
  nowMs: number,
): Failure | undefined {
  const { permission } = spec;
  if (principal.kind === "API_KEY") {
    if (spec.callers === "MEMBER") return { code: "SESSION_REQUIRED" };
    if (isPublicKey(principal) && !spec.isForPublicKeys) return { code: "PUBLIC_KEY_FORBIDDEN" };
    if (principal.permissions.has(permission)) return undefined;
    return { code: "PERMISSION_DENIED", permission: keyPermissionName(permission) };
  }
  if (!principal.permissions.has(permission)) return { code: "PERMISSION_DENIED", permission };
  if (spec.isOwnerOnly && principal.role !== "OWNER") return { code: "OWNER_REQUIRED" };
  return spec.needsStepUp ? stepUpRefusal(principal, nowMs) : undefined;
}

async function limit(
  c: AppContext,
  principal: MerchantPrincipal,
  headers: Record<string, string>,
): Promise<Failure | undefined> {
  const perMinute = requestsPerMinute(c.env);
  if (perMinute === 0) return undefined;
  const name = principal.kind === "API_KEY" ? `key:${principal.keyId}` : `usr:${principal.person.id}`;
  const refused = await checkRate(c, { name, perMinute, isShown: true }, headers);
  const ip = callerIp(c);
  if (refused !== undefined || principal.kind !== "API_KEY" || principal.keyKind === "SECRET" || ip === undefined)
    return refused;
  const byIp = {
    name: `pk:${principal.keyId}:${networkOf(ip)}`,
    perMinute: PUBLIC_KEY_PER_MINUTE_AND_IP,
    isShown: false,
  };
  return checkRate(c, byIp, headers);
}

async function noteUse({ db, nowMs }: GivenEffects, principal: MerchantPrincipal): Promise<void> {
  if (principal.kind === "API_KEY") await noteKeyUse(db, principal, nowMs);
  else await noteSessionUse(db, principal, nowMs);
}

export function givenEffects(c: AppContext): GivenEffects {
  const background = (work: Promise<unknown>) => c.executionCtx.waitUntil(work.catch(() => undefined));
  return { db: openWakingDb(c.env, background), nowMs: c.get("nowMs"), sleep: requestSleep(), background };
}

export function trailOf(c: AppContext, principal: Parameters<typeof actorOf>[0]): Trail {
  return { actor: actorOf(principal), ip: callerIp(c) ?? null, requestId: c.get("requestId") };
}

/** What a call holds whoever makes it. */
export function callOf(c: AppContext, spec: RouteSpec, given: GivenEffects, parsed: Result<ParsedBody, Failure>) {
  return {
    ...given,
    env: c.env,
    params: c.req.param() satisfies Readonly<Record<string, string>>,
    json: parsed.ok ? parsed.value.json : undefined,
    method: spec.method,
    path: c.req.path,
    idempotencyKey: c.req.header("idempotency-key"),
    accept: c.req.header("accept"),
  };
}

export function requestOf<B extends z.ZodType, Q extends z.ZodType>(
  route: { readonly spec: RouteSpec<B, Q>; readonly secrets: SecretForms },
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
