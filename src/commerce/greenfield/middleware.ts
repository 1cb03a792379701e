// Entry of the Greenfield routes: translates a plugin's request into a request to one of our own routes, and translates the response back. That
// route's permissions, limits per key, audit entries, events and Idempotency-Keys apply.
import type { MountedRoute } from "../../accounts/pipeline/routes-of.ts";
import { parseId } from "../../lib/ids.ts";
import { ok } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Failure } from "../../platform/failures.ts";
import { NO_BODY, readBody } from "../../platform/http/body.ts";
import type { AppContext } from "../../platform/http/context.ts";
import { answerTo } from "../../platform/http/errors.ts";
import type { Reply } from "../../platform/http/reply.ts";
import { type RouteSpec, specOf } from "../../platform/http/route.ts";
import { answerHeaders } from "../../platform/http/security-headers.ts";
import type { TranslatedRequest } from "../../platform/http/validate.ts";
import { refusalOf } from "./refusal.ts";
import { rightFor } from "./rights.ts";

export interface Inner {
  readonly answerOf: (operationId: string) => NonNullable<MountedRoute["answerTranslated"]>;
}

export interface Asked {
  readonly query: URLSearchParams;
  readonly json: Json | undefined;
  /** The key as it was sent, possibly without its `_`. */
  readonly key: string | undefined;
}

/** A request to our own API, for the resource that the path of the plugin's request names. */
export interface OwnRequest {
  readonly operationId: string;
  readonly query?: URLSearchParams;
  readonly json?: Json | undefined;
}

export interface Told {
  readonly status?: number;
  /** Undefined for a response without a body. */
  readonly body: object | undefined;
}

interface Translation {
  /** The operation in our own API whose response is read first; it requires its own view permission. */
  readonly before?: string;
  /** Returns the request to our own API, or a response if no request is needed. `read`: the text of the response to `before`. */
  readonly ask: (asked: Asked, read: string) => OwnRequest | Told;
  /** Translates our own response, given as `text`. */
  readonly tell: (text: string, asked: Asked) => Told;
}

/** A Greenfield route. The rest of its entry in the API reference is generated with the assets (app/greenfield-openapi.ts). */
export interface Route extends Translation {
  /** Method and path, such as `GET /api/v1/stores/:merchantId`. */
  readonly at: `${RouteSpec["method"]} ${string}`;
  readonly operationId: string;
  /** In the notation of our own roles, such as `invoice:view`; absent if any secret key is enough. */
  readonly permission?: string;
}

function specOfRoute({ at, operationId, permission }: Omit<Route, keyof Translation>): RouteSpec {
  const [method, path] = [methodOf(at), at.slice(at.indexOf(" ") + 1)];
  const [tag, callers, summary] = ["Service", "KEY", operationId] as const;
  return specOf({
    method,
    path,
    operationId,
    tag,
    summary,
    callers,
    permission: permission ?? null,
    isIdempotent: method !== "GET",
    answers: [],
  });
}

const METHODS = ["GET", "POST", "PUT", "DELETE"] as const;

function methodOf(at: string): RouteSpec["method"] {
  const method = METHODS.find((each) => at.startsWith(`${each} `));
  if (method === undefined) throw new Error(`${at} names no method`);
  return method;
}

export function routesThrough(inner: Inner, routes: readonly Route[]): readonly MountedRoute[] {
  return routes.map((route) => ({
    spec: specOfRoute(route),
    handle: (c) => {
      const store = c.req.param("merchantId");
      const isPlain = store === undefined || parseId("mer", store) !== undefined;
      return isPlain ? translated(c, inner, route) : throughStore(c, inner, route);
    },
  }));
}

/** The given routes without the store in their paths, as in newer versions of Greenfield: they use the key's store. */
export function routesOfKey(inner: Inner, routes: readonly Route[]): readonly MountedRoute[] {
  return routes.map((route) => ({
    spec: specOfRoute({ ...route, at: withoutStore(route.at), operationId: `${route.operationId}OfKey` }),
    handle: (c) => throughStore(c, inner, route),
  }));
}

const STORE = "/stores/:merchantId/";

function withoutStore(at: Route["at"]): Route["at"] {
  return `${methodOf(at)} ${at.slice(at.indexOf(" ") + 1).replace(STORE, "/")}`;
}

/** A route that plugins call but that does not exist here: answers 404 with a message. */
export function routeToNothing(at: Route["at"], operationId: string, message: string): MountedRoute {
  const spec = { ...specOfRoute({ at, operationId }), callers: "ANYBODY", isIdempotent: false } as const;
  const body = JSON.stringify({ code: "not-supported", message });
  const type = { "content-type": "application/json; charset=utf-8" };
  return {
    spec,
    handle: async (c) => new Response(body, { status: 404, headers: answerHeaders(c.get("requestId"), type) }),
  };
}

interface Target {
  /** The values of the path's `:parameters`. */
  readonly params: Readonly<Record<string, string>>;
  readonly path: string;
}

async function translated(
  c: AppContext,
  inner: Inner,
  { before, ask, tell }: Translation,
  target: Target = { params: c.req.param(), path: c.req.path },
): Promise<Response> {
  const { raw } = c.req;
  const parsed = raw.method === "GET" ? ok(NO_BODY) : await readBody(raw);
  const { json, bytes } = parsed.ok ? parsed.value : NO_BODY;
  const asked = { query: new URL(raw.url).searchParams, json, key: keyIn(raw) };
  const said = { ...target, header: headersOf(raw, asked.key) };
  const send = (own: OwnRequest, body: TranslatedRequest["parsed"]) =>
    inner.answerOf(own.operationId)(c, { said, query: firstOfEach(own.query), parsed: body });
  const read = before === undefined ? undefined : await send({ operationId: before }, ok(NO_BODY));
  if (read?.result.ok === false) return refused(c, read.result.error, read.headers);
  const own = ask(asked, read === undefined ? "" : await textOf(read.result.value));
  if (!("operationId" in own)) return told(c, own, read?.headers);
  // An unreadable body is refused by our own route, after the caller was authenticated.
  const { result, headers } = await send(own, parsed.ok ? ok({ json: own.json, bytes }) : parsed);
  if (!result.ok) return refused(c, result.error, headers);
  return told(c, tell(await textOf(result.value), asked), { ...headers, ...result.value.headers });
}

async function textOf({ body }: Reply): Promise<string> {
  return typeof body === "string" ? body : new Response(body).text();
}

/**
 * Reads the key from Greenfield's header only. Accepts a secret key, or a key that an application requested, but no cookie and no public key.
 * PrestaShop's form accepts only letters and digits, so a key without its `_` works too.
 */
function keyIn({ headers }: Request): string | undefined {
  const key = /^token +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return key !== undefined && /^[sa]k/.test(key) ? key : undefined;
}

/** The request headers that our own routes read. */
const HEADERS: readonly string[] = ["user-agent", "idempotency-key"];

function headersOf({ headers }: Request, key: string | undefined): TranslatedRequest["said"]["header"] {
  return (name) => {
    if (name === "x-api-key") return key?.replace(/^(.k)_?/, "$1_");
    return HEADERS.includes(name) ? (headers.get(name) ?? undefined) : undefined;
  };
}

function firstOfEach(query = new URLSearchParams()): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].reverse());
}

function refused(c: AppContext, failure: Failure, headers: Readonly<Record<string, string>>): Response {
  const answer = answerTo(failure);
  return told(c, refusalOf(failure, answer, rightFor), { ...headers, ...answer.headers });
}

/**
 * A success has status 200, because plugins treat any other status as a failure. There are no CORS headers, because no web page reads these
 * responses.
 */
function told(c: AppContext, { status = 200, body }: Told, headers: Readonly<Record<string, string>> = {}): Response {
  const type = body === undefined ? {} : { "content-type": "application/json; charset=utf-8" };
  return new Response(body === undefined ? null : JSON.stringify(body), {
    status,
    headers: answerHeaders(c.get("requestId"), { ...headers, ...type }),
  });
}

/** The operation that returns a key's merchant. */
export const WHOSE = "greenfieldKey";

/** Looks up the key's store and uses it, if the path names no store, or names the store by its former id at BTCPay Server. */
async function throughStore(c: AppContext, inner: Inner, route: Route): Promise<Response> {
  const said = { path: c.req.path, params: c.req.param(), header: headersOf(c.req.raw, keyIn(c.req.raw)) };
  const whose = { said, query: {}, parsed: ok(NO_BODY) };
  const { result, headers } = await inner.answerOf(WHOSE)(c, whose);
  if (!result.ok) return refused(c, result.error, headers);
  const { id, formerStoreId }: { readonly id: string; readonly formerStoreId: string | null } = JSON.parse(
    await textOf(result.value),
  );
  const { merchantId: named } = said.params;
  // Any other store is refused by our own routes, like the id of another merchant.
  if (named !== undefined && named !== formerStoreId) return translated(c, inner, route);
  const from = named === undefined ? "/api/v1/" : `/api/v1${STORE.replace(":merchantId", named)}`;
  const path = said.path.replace(from, `/api/v1${STORE.replace(":merchantId", id)}`);
  return translated(c, inner, route, { params: { ...said.params, merchantId: id }, path });
}
