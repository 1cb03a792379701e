// The order of steps for every request: parse and validate, authenticate and read, check permissions, rate-limit, search the body for private keys,
// and only then run the operation. A problem with the request is reported after the search, because it may quote the input. So a 401, 403, 429 or 400
// is never stored under an Idempotency-Key, and an unauthenticated body costs only parsing and a schema check. `strategies.ts` has the steps for each
// kind of caller. Before all of these steps, requests for a merchant's object are refused while the object refuses more requests than it accepts
// (`throttled`).
import { ChecksumBudget } from "../../chains/secrets/checksum-budget.ts";
import { containsSecret, type SecretForms } from "../../chains/secrets/secret-material.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { requestSleep } from "../../lib/sleep.ts";
import type { Json } from "../../lib/typed-json.ts";
import { inTime } from "../../platform/db/unanswered.ts";
import { restoreRefusal } from "../../platform/deployment/read-deployment.ts";
import type { Failure } from "../../platform/failures.ts";
import { NO_BODY } from "../../platform/http/body.ts";
import { type AppContext, type GivenDependencies, type MakeDependencies, refuse } from "../../platform/http/context.ts";
import { type CookieName, readCookie } from "../../platform/http/cookies.ts";
import type { CountedAs } from "../../platform/http/counted-callers.ts";
import {
  answerInMerchantObject,
  type HandedBack,
  type HandedOver,
  handOver,
  throttled,
} from "../../platform/http/handed-over.ts";
import { givenDependencies, type Incoming, incomingOf, waitingFor } from "../../platform/http/incoming.ts";
import { failedCredential, limitByIp, limitCaller } from "../../platform/http/rate-check.ts";
import { type Reply, replyResponse } from "../../platform/http/reply.ts";
import { CHALLENGE_TOKEN, isCrossOrigin, type RouteSpec, waitsForRestore } from "../../platform/http/route.ts";
import { forAnyOrigin } from "../../platform/http/security-headers.ts";
import {
  readSent,
  readTranslated,
  type TranslatedRequest,
  type ValidRequest,
  valuesOf,
} from "../../platform/http/validate.ts";
import type { Statements } from "../auth/authenticate.ts";
import type { ProvedCall } from "./answer-once.ts";
import type { CallerKind, CallOf, OpenCall, ReadInput, ReadKeys } from "./call.ts";
import { type Access, type Entry, STRATEGIES } from "./strategies.ts";

/** A route for the pipeline. Only its declaration has the types of its body, query and reads (`routes-of.ts`). */
export interface PipelineRoute<C extends CallerKind, Deps, Answer> extends Access {
  readonly callers: C;
  /** Whether requests of the route run in the object of their merchant. */
  readonly runsInMerchantObject: boolean;
  /** Whether the handler itself hands the request to a merchant's object to create an invoice, because no credential names the merchant. */
  readonly sells?: boolean;
  /** The forms of private keys to search for in the body, including the names of its members, before any of it is stored. */
  readonly secrets: SecretForms;
  readonly dependencies: MakeDependencies<Deps>;
  /** The route's reads, made in the same storage call as the authentication. */
  readonly reads?:
    | ((input: ReadInput<unknown, unknown, Deps> & ReadKeys[C]) => Statements | Promise<Statements>)
    | undefined;
  readonly answer: (call: CallOf<C, unknown, unknown, Statements, Deps>) => Promise<Result<Answer, Failure>>;
  /** Answers a refused caller whose access may have been ended by this operation itself (`routes-of.ts`). */
  readonly answerAgain?: ((call: ProvedCall, refusal: Failure) => Promise<Result<Answer, Failure>>) | undefined;
}

/** Handles a request of the API at the edge. */
export async function respond<C extends CallerKind, Deps>(
  c: AppContext,
  route: PipelineRoute<C, Deps, Reply>,
): Promise<Response> {
  const headers: Record<string, string> = isCrossOrigin(route.spec)
    ? { ...forAnyOrigin((name) => c.req.header(name)) }
    : {};
  const outcome = await runPipeline(c, route, headers, enterMerchantObject);
  if (!outcome.ok) return refuse(c, outcome.error, headers);
  return replyResponse(c, outcome.value, headers);
}

/** Handles a request inside its merchant's object. */
export async function respondInObject<C extends CallerKind, Deps>(
  incoming: Incoming,
  route: PipelineRoute<C, Deps, Reply>,
  { query, json }: Pick<HandedOver, "query" | "json">,
): Promise<HandedBack> {
  const headers: Record<string, string> = {};
  const request = lazily(async () => valuesOf(route.spec, query, json));
  // The edge has already searched the body for private keys.
  const result = await runSteps(incoming, route, { json, request, headers, secretIn: () => undefined });
  if (!result.ok) return { result, headers };
  const { status, body, headers: own } = result.value;
  if (body !== null && typeof body !== "string") throw new Error(`${route.spec.operationId} answers with a stream`);
  return { result: ok({ status, body, ...(own === undefined ? {} : { headers: own }) }), headers };
}

/** The answer to a translated request, before it becomes a response in the other API's format. */
export interface TranslatedAnswer {
  readonly result: Result<Reply, Failure>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Handles a request of the API that came in another API's format. */
export async function respondToTranslated<C extends CallerKind, Deps>(
  c: AppContext,
  route: PipelineRoute<C, Deps, Reply>,
  translated: TranslatedRequest,
): Promise<TranslatedAnswer> {
  const headers: Record<string, string> = {};
  return { result: await runPipeline(c, route, headers, enterMerchantObject, translated), headers };
}

/** How a request enters its merchant's object. */
type Enter<Answer> = (
  incoming: Incoming,
  entry: Entry,
  of: Pick<HandedOver, "operationId" | "query" | "json" | "bytes">,
  headers: Record<string, string>,
) => Promise<Result<Answer, Failure>>;

/** The route's answer at the edge, or the first refusal. Adds rate-limit headers to `headers`. */
export async function runPipeline<C extends CallerKind, Deps, Answer>(
  c: AppContext,
  route: PipelineRoute<C, Deps, Answer>,
  headers: Record<string, string>,
  enter?: Enter<Answer>,
  translated?: TranslatedRequest,
): Promise<Result<Answer, Failure>> {
  const { operationId } = route.spec;
  c.set("operationId", operationId);
  const incoming = { ...incomingOf(c), ...translated?.said };
  const busy = route.runsInMerchantObject ? throttled(incoming.params.merchantId) : undefined;
  if (busy !== undefined) return err(busy);
  const { parsed, query, request } =
    translated === undefined ? await readSent(c, route.spec) : readTranslated(route.spec, translated);
  const { json, bytes } = parsed.ok ? parsed.value : NO_BODY;
  const running = runSteps(incoming, route, {
    json,
    headers,
    secretIn: lazily(() => secretRefusal(json, route.secrets)),
    request: lazily(request),
    enter: enter && ((entry) => enter(incoming, entry, { operationId, query, json, bytes }, headers)),
  });
  const ran = await (route.sells === true ? inTime(waitingFor(incoming), running, err) : running);
  const hasFailed = !ran.ok && ran.error.code === "UNAUTHORIZED";
  const result = hasFailed ? err(await failedCredential(incoming)) : ran;
  if (!result.ok) c.set("refusal", result.error.code);
  return result;
}

interface Steps<Answer> {
  /** The body before defaults are applied. */
  readonly json: Json | undefined;
  readonly request: () => Promise<ValidRequest>;
  /** The refusal of a body that holds a private key. */
  readonly secretIn: () => Failure | undefined;
  readonly headers: Record<string, string>;
  /** Absent inside the object. */
  readonly enter?: ((entry: Entry) => Promise<Result<Answer, Failure>>) | undefined;
}

async function runSteps<C extends CallerKind, Deps, Answer>(
  incoming: Incoming,
  route: PipelineRoute<C, Deps, Answer>,
  { json, request, secretIn, headers, enter }: Steps<Answer>,
): Promise<Result<Answer, Failure>> {
  const { spec } = route;
  const restoring = await restoreRefusal(incoming.env, requestSleep, {
    mustWait: waitsForRestore(spec),
    isCreate: route.runsInMerchantObject || route.sells === true,
  });
  if (restoring !== undefined) return err(restoring);
  const strategy = STRATEGIES[route.callers];
  const presented = strategy.present(incoming, route);
  if (!presented.ok) return presented;
  const given = givenDependencies(incoming);
  const deps = lazily(() => route.dependencies(incoming.env, given));
  const { keys, admitted, hash, prove } = presented.value;
  // An invalid request does not enter the object: it is refused at the edge.
  const enterObject = route.runsInMerchantObject && (await request()).ok ? enter : undefined;
  const entryByCredential = enterObject && admitted();
  if (enterObject !== undefined && entryByCredential !== undefined && secretIn() === undefined)
    return enterObject(entryByCredential);
  const count = countBeside(incoming, spec.operationId, hash);
  // If the request enters the object, the object does the route's reads.
  const reads = enterObject === undefined ? await readsOf(incoming, route, { given, deps, keys, request }) : [];
  const refused = async (refusal: Failure) => {
    count.forget();
    if (route.answerAgain === undefined || !incoming.header("idempotency-key")) return err(refusal);
    const user = await userOf(incoming, route, given);
    if (user === undefined) return err(refusal);
    const limited = await count.as(STRATEGIES.USER.countedAs(user), headers);
    const call = { ...callOf(incoming, spec, given), json, body: {}, query: {}, deps: {} };
    return limited === undefined ? route.answerAgain({ ...call, ...user }, refusal) : err(limited);
  };
  const proving = prove(given, reads);
  // The object limits the time of its own reads, so only a request that is about to enter it needs a limit here.
  const proved = await (enterObject === undefined ? proving : inTime(waitingFor(incoming), proving, err));
  if (!proved.ok) return refused(proved.error);
  const { caller, noteUse } = proved.value;
  const forbidden = strategy.permit(route, caller, given.nowMs);
  if (forbidden !== undefined) return refused(forbidden);
  if (enterObject !== undefined && secretIn() === undefined) {
    const entry = strategy.admit(caller);
    if (entry === undefined) throw new Error(`the callers of ${spec.operationId} have no merchant`);
    // The object authenticates the request again, and counts it.
    return enterObject(entry);
  }
  const limited = await count.as(strategy.countedAs(caller), headers);
  if (limited !== undefined) return err(limited);
  if (noteUse !== undefined) given.background(noteUse());
  const secret = secretIn();
  if (secret !== undefined) return err(secret);
  const valid = await request();
  if (!valid.ok) return valid;
  const call = { ...callOf(incoming, spec, given), json, ...valid.value, deps: deps() };
  return route.answer({ ...call, ...caller });
}

/** The user of the request's session, even if the route requires more. */
async function userOf(incoming: Incoming, route: Access, given: GivenDependencies) {
  const presented = STRATEGIES.USER.present(incoming, route);
  const proved = presented.ok ? await presented.value.prove(given, []) : presented;
  return proved.ok ? proved.value.caller : undefined;
}

/**
 * Counts a request against its caller's rate limit. Inside the merchant's object, a caller known from an earlier request is counted at once, while
 * this request is still being authenticated.
 */
function countBeside(incoming: Incoming, operationId: string, hash: () => string) {
  const known = incoming.merchantContext?.countedCallers;
  const expected = known?.find(operationId, hash());
  const early: Record<string, string> = {};
  const counted = expected && limitCaller(incoming, expected, early);
  return {
    /** Forgets the caller of a request that is refused before it is counted. */
    forget: () => known?.forget(operationId, hash()),
    /** Returns the refusal if the caller has sent too many requests. */
    as: async (caller: CountedAs | undefined, headers: Record<string, string>): Promise<Failure | undefined> => {
      // The sender of a form is counted at the edge, which served the form's page.
      if (caller === undefined) return known === undefined ? limitByIp(incoming, headers) : undefined;
      if (caller.name !== expected?.name) {
        known?.remember(operationId, hash(), caller);
        return limitCaller(incoming, caller, headers);
      }
      const refused = await counted;
      Object.assign(headers, early);
      return refused;
    },
  };
}

/** Runs the request in its merchant's object. */
const enterMerchantObject: Enter<Reply> = async (incoming, { merchantId, isPublic }, of, headers) => {
  const handed = handOver(incoming, { ...of, isPublic });
  const isRepeatable = Boolean(incoming.header("idempotency-key"));
  const answered = await answerInMerchantObject(incoming.env, merchantId, { handed, isRepeatable });
  const { result, headers: added, cost } = answered;
  if (cost !== undefined) incoming.meter.add(cost);
  Object.assign(headers, added);
  return result;
};

async function readsOf<C extends CallerKind, Deps, Answer>(
  incoming: Incoming,
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
    params: incoming.params,
    request: request.ok ? request.value : undefined,
  });
}

/** Refuses a body that holds a private key (decisions 3), or more candidates for one than can be checked. */
function secretRefusal(json: Json | undefined, secrets: SecretForms): Failure | undefined {
  const budget = new ChecksumBudget();
  if (json === undefined || !containsSecret(json, secrets, budget)) return undefined;
  return budget.isUsedUp
    ? { code: "VALIDATION_FAILED", details: [{ path: "", message: UNSEARCHED }] }
    : { code: "PRIVATE_KEY_REFUSED" };
}

const UNSEARCHED = "too much looks like private keys to search it all; nothing was stored";

const LONGEST_USER_AGENT = 300;

/** The members of a call that do not depend on the kind of caller. */
function callOf(
  incoming: Incoming,
  spec: RouteSpec,
  given: GivenDependencies,
): Omit<OpenCall<unknown, unknown>, "body" | "json" | "query" | "deps"> {
  const { env, params, path, ip = null, requestId, merchantContext, header } = incoming;
  return {
    ...given,
    env,
    params,
    path,
    ip,
    requestId,
    merchantContext,
    header,
    method: spec.method,
    idempotencyKey: header("idempotency-key"),
    challengeToken: header(CHALLENGE_TOKEN),
    origin: header("origin"),
    accept: header("accept"),
    cookie: (name: CookieName) => readCookie(env, header("cookie"), name) || undefined,
    userAgent: header("user-agent")?.slice(0, LONGEST_USER_AGENT) ?? null,
  };
}
