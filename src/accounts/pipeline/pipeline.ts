// The order of steps for every request: authenticate and read, check permissions, rate-limit, validate, and only then run the operation. So a 401,
// 403, 429 or 400 is never stored under an Idempotency-Key. `strategies.ts` has the steps for each kind of caller.
import { containsSecret, type SecretForms } from "../../chains/secret-material.ts";
import { lazily } from "../../lib/lazily.ts";
import { objectOf } from "../../lib/object-of.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { faultKind } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type ParsedBody, readBody, readForm } from "../../platform/http/body.ts";
import {
  type AppContext,
  callerIp,
  type GivenDependencies,
  givenDependencies,
  type MakeDependencies,
} from "../../platform/http/context.ts";
import { type CookieName, readCookie } from "../../platform/http/cookies.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { handOver } from "../../platform/http/merchant-context.ts";
import { type Reply, replyResponse } from "../../platform/http/reply.ts";
import { isCrossOrigin, type RouteSpec } from "../../platform/http/route.ts";
import { FOR_ANY_ORIGIN } from "../../platform/http/security-headers.ts";
import { validate, validateBody, validateQuery } from "../../platform/http/validate.ts";
import type { Statements } from "../auth/authenticate.ts";
import type { CallerKind, CallOf, OpenCall, ReadInput, ReadKeys } from "./call.ts";
import { type Access, type Entry, STRATEGIES } from "./strategies.ts";

/** A route for the pipeline. Only its declaration has the types of its body, query and reads (`routes-of.ts`). */
export interface PipelineRoute<C extends CallerKind, Deps, Answer> extends Access {
  readonly callers: C;
  /** The forms of private keys to search for in the body, names of members included, before any schema sees it. */
  readonly secrets: SecretForms;
  readonly dependencies: MakeDependencies<Deps>;
  /** The route's reads, done in the storage call of the authentication. */
  readonly reads?:
    | ((input: ReadInput<unknown, unknown, Deps> & ReadKeys[C]) => Statements | Promise<Statements>)
    | undefined;
  readonly answer: (call: CallOf<C, unknown, unknown, Statements, Deps>) => Promise<Result<Answer, Failure>>;
}

/** Handles a request of the API. */
export async function respond<C extends CallerKind, Deps>(
  c: AppContext,
  route: PipelineRoute<C, Deps, Reply>,
): Promise<Response> {
  const headers: Record<string, string> = { ...(isCrossOrigin(route.spec) ? FOR_ANY_ORIGIN : {}) };
  const outcome = await runPipeline(c, route, headers);
  if (outcome instanceof Response) return outcome;
  if (!outcome.ok) return failureResponse(outcome.error, c.get("requestId"), headers);
  return replyResponse(c, outcome.value, headers);
}

/**
 * The route's response, or the first refusal; a whole `Response` if the request ran in the object of its merchant. Adds rate-limit headers to
 * `headers`.
 */
export async function runPipeline<C extends CallerKind, Deps, Answer>(
  c: AppContext,
  route: PipelineRoute<C, Deps, Answer>,
  headers: Record<string, string>,
): Promise<Result<Answer, Failure> | Response> {
  const { spec } = route;
  const strategy = STRATEGIES[route.callers];
  const parsed = await bodyOf(c, spec);
  const presented = strategy.present(c, route);
  if (!presented.ok) return presented;
  const given = givenDependencies(c);
  const request = lazily(() => requestOf(c, route, parsed));
  const deps = lazily(() => route.dependencies(c.env, given));
  const { keys, admitted, prove } = presented.value;
  // An invalid request is refused here.
  const isHandedOver = route.runsInMerchantObject && c.env.merchantContext === undefined && (await request()).ok;
  if (isHandedOver && admitted !== undefined) return enterMerchantObject(c, admitted, parsed, headers);
  // The object reads for itself.
  const proved = await prove(given, isHandedOver ? [] : await readsOf(c, route, { given, deps, keys, request }));
  if (!proved.ok) return proved;
  const { caller, noteUse } = proved.value;
  const forbidden = strategy.permit(route, caller, given.nowMs);
  if (forbidden !== undefined) return err(forbidden);
  // The object counts the request, and authenticates it again.
  const entry = isHandedOver ? strategy.admit(caller) : undefined;
  if (entry !== undefined) return enterMerchantObject(c, entry, parsed, headers);
  if (isHandedOver) throw new Error(`the callers of ${spec.operationId} have no merchant`);
  const limited = await strategy.limit(c, caller, headers);
  if (limited !== undefined) return err(limited);
  if (noteUse !== undefined) given.background(noteUse());
  const valid = await request();
  if (!valid.ok) return valid;
  const call: OpenCall<unknown, unknown, Deps> = { ...callOf(c, spec, given, parsed), ...valid.value, deps: deps() };
  return route.answer({ ...call, ...caller });
}

/** Runs the request in the object of its merchant; the response is the caller's. */
async function enterMerchantObject(
  c: AppContext,
  { merchantId, isPublic }: Entry,
  parsed: Result<ParsedBody, Failure>,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const requestId = c.get("requestId");
  const bytes = parsed.ok ? parsed.value.bytes : undefined;
  const request = () => handOver(c.req.raw, bytes, { requestId, ip: callerIp(c) ?? null, isPublic });
  // A second request of the same key is safe; without a key, the first one may have created something.
  const tries = c.req.header("idempotency-key") ? 2 : 1;
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await objectOf(c.env, c.env.MERCHANT_OBJECT, merchantId).fetch(request());
      return withHeaders(response, headers);
    } catch (error) {
      const kind = faultKind(error);
      if (kind === "other") throw error;
      if (kind === "overloaded" || attempt === tries)
        return failureResponse({ code: "STORAGE_UNAVAILABLE" }, requestId, headers);
    }
  }
}

/** The object refuses before it knows the route, so without the headers of its kind. */
function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const missing = Object.entries(headers).filter(([name]) => !response.headers.has(name));
  if (missing.length === 0) return response;
  const copy = new Response(response.body, response);
  for (const [name, value] of missing) copy.headers.set(name, value);
  return copy;
}

/** Reads the body first, because the route's reads use it. A problem with it is only reported after the caller has passed the earlier steps. */
async function bodyOf(c: AppContext, spec: RouteSpec): Promise<Result<ParsedBody, Failure>> {
  if (!spec.isPage) return readBody(c.req.raw);
  return spec.method === "GET" ? ok({ json: undefined, bytes: undefined }) : readForm(c.req.raw);
}

type ValidRequest = Result<{ readonly body: unknown; readonly query: unknown }, Failure>;

async function readsOf<C extends CallerKind, Deps, Answer>(
  c: AppContext,
  route: PipelineRoute<C, Deps, Answer>,
  of: {
    readonly given: GivenDependencies;
    readonly deps: () => Deps;
    readonly keys: ReadKeys[C];
    readonly request: () => Promise<ValidRequest>;
  },
): Promise<Statements> {
  if (route.reads === undefined) return [];
  const request = await of.request();
  return route.reads({
    ...of.keys,
    db: of.given.db,
    deps: of.deps(),
    params: c.req.param() satisfies Readonly<Record<string, string>>,
    request: request.ok ? request.value : undefined,
  });
}

async function requestOf(
  c: AppContext,
  { spec, secrets }: { readonly spec: RouteSpec; readonly secrets: SecretForms },
  parsed: Result<ParsedBody, Failure>,
): Promise<ValidRequest> {
  if (!parsed.ok) return parsed;
  const { json, bytes } = parsed.value;
  // Before anything else: later errors may quote the input, and a private key must never be repeated (decisions 3).
  if (json !== undefined && containsSecret(json, secrets)) return err({ code: "PRIVATE_KEY_REFUSED" });
  const query = await validateQuery(c, spec.query());
  if (!query.ok) return query;
  const isHandedOn = bytes !== undefined && spec.method !== "GET";
  const body = isHandedOn
    ? await validateBody(c, spec.isPage ? "form" : "json", spec.body(), bytes)
    : validate(spec.body(), json);
  return body.ok ? ok({ body: body.value, query: query.value }) : body;
}

const LONGEST_USER_AGENT = 300;

/** The call's members for any kind of caller. */
function callOf(
  c: AppContext,
  spec: RouteSpec,
  given: GivenDependencies,
  parsed: Result<ParsedBody, Failure>,
): Omit<OpenCall<unknown, unknown>, "body" | "query" | "deps"> {
  return {
    ...given,
    env: c.env,
    params: c.req.param() satisfies Readonly<Record<string, string>>,
    json: parsed.ok ? parsed.value.json : undefined,
    method: spec.method,
    path: c.req.path,
    idempotencyKey: c.req.header("idempotency-key"),
    accept: c.req.header("accept"),
    cookie: (name: CookieName) => readCookie(c.env, c.req.header("cookie"), name) || undefined,
    merchantContext: c.env.merchantContext,
    ip: callerIp(c) ?? null,
    userAgent: c.req.header("user-agent")?.slice(0, LONGEST_USER_AGENT) ?? null,
    requestId: c.get("requestId"),
  };
}
