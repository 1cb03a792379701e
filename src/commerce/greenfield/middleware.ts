// The door of the Greenfield routes: a plugin's request becomes a request of one of our own routes, and its answer becomes Greenfield's. Who may do
// what, limits by key, audit entries, events and Idempotency-Keys are those of the route behind it.
import type { MountedRoute } from "../../accounts/pipeline/routes-of.ts";
import { ok } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import { NO_BODY, readBody } from "../../platform/http/body.ts";
import type { AppContext } from "../../platform/http/context.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { type RouteSpec, specOf } from "../../platform/http/route.ts";
import { answerHeaders } from "../../platform/http/security-headers.ts";
import { refusalOf } from "./refusal.ts";
import { rightFor } from "./rights.ts";

/** What the door needs of the app. */
export interface Inner {
  readonly handleOf: (operationId: string) => MountedRoute["handle"];
  readonly fetch: (
    request: Request,
    env: Env,
    background: (work: Promise<unknown>) => void,
  ) => Response | Promise<Response>;
}

/** A plugin's request. */
export interface Asked {
  readonly query: URLSearchParams;
  readonly json: Json | undefined;
  /** The key, as it was sent. */
  readonly key: string | undefined;
}

/** A request of our own API, to the resource that the path names. */
export interface OwnRequest {
  readonly operationId: string;
  readonly query?: URLSearchParams;
  readonly json?: Json | undefined;
}

export interface Told {
  readonly status?: number;
  /** Undefined for an answer without a body. */
  readonly body: object | undefined;
}

interface Translation {
  /** What is read before the request is made, with a right to view of its own. */
  readonly before?: string;
  /** `read`: the text of what was read before. Or what is told without asking. */
  readonly ask: (asked: Asked, read: string) => OwnRequest | Told;
  /** `text`: our own answer. */
  readonly tell: (text: string, asked: Asked) => Told;
}

/** A route of Greenfield. What its reference says besides is made when the assets are built (app/greenfield-openapi.ts). */
export interface Route extends Translation {
  /** `GET /api/v1/stores/:merchantId`. */
  readonly at: `${RouteSpec["method"]} ${string}`;
  readonly operationId: string;
  /** As our roles spell it; absent where any secret key will do. */
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
  return routes.map((route) => ({ spec: specOfRoute(route), handle: (c) => throughDoor(c, inner, route) }));
}

/** The same without the store in their paths, as newer versions have them: the key's store is meant. */
export function routesOfKey(inner: Inner, routes: readonly Route[]): readonly MountedRoute[] {
  return routes.map(({ at, operationId, permission }) => ({
    spec: specOfRoute({
      at: withoutStore(at),
      operationId: `${operationId}OfKey`,
      ...(permission !== undefined && { permission }),
    }),
    handle: (c) => throughStore(c, inner),
  }));
}

const STORE = "/stores/:merchantId/";

function withoutStore(at: Route["at"]): Route["at"] {
  return `${methodOf(at)} ${at.slice(at.indexOf(" ") + 1).replace(STORE, "/")}`;
}

/** A route that plugins know and this service does not have: 404 with a sentence. */
export function routeToNothing(at: Route["at"], operationId: string, message: string): MountedRoute {
  const spec = { ...specOfRoute({ at, operationId }), callers: "ANYBODY", isIdempotent: false } as const;
  const body = JSON.stringify({ code: "not-supported", message });
  const type = { "content-type": "application/json; charset=utf-8" };
  return {
    spec,
    handle: async (c) => new Response(body, { status: 404, headers: answerHeaders(c.get("requestId"), type) }),
  };
}

async function throughDoor(c: AppContext, inner: Inner, { before, ask, tell }: Translation): Promise<Response> {
  const { raw } = c.req;
  const parsed = raw.method === "GET" ? ok(NO_BODY) : await readBody(raw);
  const asked = {
    query: new URL(raw.url).searchParams,
    json: parsed.ok ? parsed.value.json : undefined,
    key: keyIn(raw),
  };
  const send = async (own: OwnRequest, body = own.json === undefined ? undefined : JSON.stringify(own.json)) => {
    c.req.raw = requestOf(raw, asked.key, own, body);
    c.req.bodyCache = {};
    const answer = await inner.handleOf(own.operationId)(c);
    c.req.raw = raw;
    return { answer, text: await answer.text() };
  };
  const read = before === undefined ? undefined : await send({ operationId: before });
  if (read !== undefined && read.answer.status >= 400) return refused(read.answer, read.text);
  const own = ask(asked, read?.text ?? "");
  if (!("operationId" in own)) return told(read?.answer ?? new Response(), own);
  // A body that cannot be read is refused behind the proof of the caller, as our own route refuses one that is no JSON.
  const { answer, text } = await (parsed.ok ? send(own) : send(own, "{"));
  if (!parsed.ok && answer.status === 400) {
    const failure = failureResponse(parsed.error, c.get("requestId"));
    return refused(failure, await failure.text());
  }
  return answer.status >= 400 ? refused(answer, text) : told(answer, tell(text, asked));
}

/** Only the header of Greenfield counts, and only a secret key, or one that an application asked for: no cookie, and no key that a page may have. */
function keyIn({ headers }: Request): string | undefined {
  const key = /^token +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return key !== undefined && /^[sa]k_/.test(key) ? key : undefined;
}

/** What our own routes read of a request. */
const HEADERS = ["cf-connecting-ip", "user-agent", "idempotency-key"];

function requestOf(raw: Request, key: string | undefined, { query }: OwnRequest, body: string | undefined): Request {
  const headers = new Headers();
  for (const name of HEADERS) {
    const value = raw.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  if (key !== undefined) headers.set("x-api-key", key);
  if (body !== undefined) headers.set("content-type", "application/json");
  const url = new URL(raw.url);
  url.search = query?.toString() ?? "";
  return new Request(url, {
    method: body === undefined ? "GET" : "POST",
    headers,
    ...(body !== undefined && { body }),
  });
}

function refused(answer: Response, text: string): Response {
  const { status, body } = refusalOf(answer.status, text, rightFor);
  return told(answer, { status, body });
}

/** Every success is 200, because plugins take any other status for a failure. No page reads these answers. */
function told(answer: Response, { status = 200, body }: Told): Response {
  const headers = new Headers(answer.headers);
  for (const name of [...headers.keys()]) if (name.startsWith("access-control-")) headers.delete(name);
  headers.delete("content-length");
  if (body !== undefined) headers.set("content-type", "application/json; charset=utf-8");
  return new Response(body === undefined ? null : JSON.stringify(body), { status, headers });
}

/** The operation that says whose a key is. */
export const WHOSE = "greenfieldKey";

/** Asks whose the key is, and goes on to the path with that store. */
async function throughStore(c: AppContext, inner: Inner): Promise<Response> {
  const { raw } = c.req;
  c.req.raw = new Request(raw.url, { headers: raw.headers });
  const known = await throughDoor(c, inner, {
    ask: () => ({ operationId: WHOSE }),
    tell: (text) => ({ body: JSON.parse(text) }),
  });
  c.req.raw = raw;
  if (known.status >= 400) return known;
  const { id }: { readonly id: string } = await known.json();
  const url = new URL(raw.url);
  url.pathname = url.pathname.replace("/api/v1/", `/api/v1${STORE.replace(":merchantId", id)}`);
  return inner.fetch(new Request(url, raw), c.env, (work) => c.executionCtx.waitUntil(work));
}
