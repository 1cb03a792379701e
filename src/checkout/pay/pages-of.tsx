// How the payers' pages are declared and answered. No caller is authenticated: an invoice's unguessable id is enough. Each response has its own
// content security policy: our script and style by nonce, nothing from other origins, and frames only for the origins that the merchant named.
import { base64urlnopad } from "@scure/base";
import type * as z from "zod";
import type { OpenCall } from "../../accounts/pipeline/call.ts";
import { type PipelineRoute, respondInObject, runPipeline } from "../../accounts/pipeline/pipeline.ts";
import type { MountedRoute, NoBody, NoQuery, Said } from "../../accounts/pipeline/routes-of.ts";
import { FREE_TEXT } from "../../chains/secrets/secret-material.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import { type GeoLocation, geoLocationOf } from "../../lib/geo-location.ts";
import type { Result } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Failure } from "../../platform/failures.ts";
import { type AppContext, errorResponse, type MakeDependencies } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { answerInMerchantObject, type HandedReply, handOver } from "../../platform/http/handed-over.ts";
import { incomingOf } from "../../platform/http/incoming.ts";
import type { MerchantContext } from "../../platform/http/merchant-context.ts";
import type { Reply } from "../../platform/http/reply.ts";
import { type RouteSpec, specOf } from "../../platform/http/route.ts";
import { answerHeaders } from "../../platform/http/security-headers.ts";
import { isLanguage, negotiateLanguage } from "../../platform/texts/languages.ts";
import { textsOf } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import { problemPage, problemStatus } from "./problem-page.tsx";

/** The output of hono/jsx for an element. */
type Html = string | { toString(): string | Promise<string> } | Promise<string>;

/** `body` holds the fields of the form; for a GET, the fields of an empty form. */
export interface PageCall<Body, Query, Deps> extends OpenCall<Body, Query, Deps> {
  /** Whether only headers are requested: then the request must have no effect. */
  readonly isHead: boolean;
  readonly chrome: Chrome;
  /** The caller's location, as estimated by Cloudflare's edge; undefined if unknown. */
  readonly location: GeoLocation | undefined;
  /**
   * Runs `answerInObject` in a merchant's object. Before this call the form must have been validated and its sender counted, because the call uses
   * the object's capacity.
   */
  readonly handToObject: (of: Handing) => Promise<Result<HandedReply, Failure>>;
}

interface Handing {
  readonly merchantId: string;
  /** The fields of the form, for the page's own schema. */
  readonly form: { readonly [field: string]: Json };
  /** Whether sending the same form again changes nothing. */
  readonly isRepeatable: boolean;
}

/** The call that handles a form inside the merchant's object. */
export interface FormCall<Body, Query, Deps> extends OpenCall<Body, Query, Deps> {
  readonly merchantContext: MerchantContext;
}

export type PageReply =
  | {
      readonly kind: "page";
      readonly status: number;
      readonly html: Html;
      readonly frameAncestors: readonly string[];
      /** The origin of the challenge on the page, from which a script and a frame may load. */
      readonly challengeOrigin?: string | undefined;
      /** For a part of a page: everything that its rendering depends on, so that an unchanged part is recognised without rendering it. */
      readonly drawnFrom?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** 303, so that a form's result page can be reloaded. */
  | { readonly kind: "redirect"; readonly location: string };

type Answer = Result<PageReply, Failure>;

interface PageSaid<B extends z.ZodType, Q extends z.ZodType, Deps> extends Said<B, Q> {
  /** A refusal becomes a page in the payer's language. */
  readonly answer: (call: PageCall<z.output<B>, z.output<Q>, Deps>) => Promise<Answer>;
  /** Called through `handToObject`. The result is returned to `answer`, not to the payer. */
  readonly answerInObject?: (call: FormCall<z.output<B>, z.output<Q>, Deps>) => Promise<Result<Reply, Failure>>;
}

interface UntypedPage<Deps> extends Said<z.ZodType, z.ZodType> {
  readonly answer: (call: PageCall<unknown, unknown, Deps>) => Promise<Answer>;
  readonly answerInObject?: (call: FormCall<unknown, unknown, Deps>) => Promise<Result<Reply, Failure>>;
}

function untyped<B extends z.ZodType, Q extends z.ZodType, Deps>(page: PageSaid<B, Q, Deps>): UntypedPage<Deps>;
function untyped<Deps>(page: UntypedPage<Deps>): UntypedPage<Deps> {
  return page;
}

type DeclarePage<Deps> = <B extends z.ZodType = NoBody, Q extends z.ZodType = NoQuery>(
  path: string,
  page: PageSaid<B, Q, Deps>,
) => Pages<Deps>;

interface Pages<Deps> extends Iterable<MountedRoute> {
  readonly get: DeclarePage<Deps>;
  readonly post: DeclarePage<Deps>;
}

/** Starts a group of pages. Pages are declared like API routes (`routesOf`) and use the same pipeline. */
export function pagesOf<Deps>(dependencies: MakeDependencies<Deps>): Pages<Deps> {
  const mounted: MountedRoute[] = [];
  const declare =
    (method: RouteSpec["method"]): DeclarePage<Deps> =>
    (path, page) => {
      mounted.push(mount(dependencies, { ...untyped(page), method, path }));
      return pages;
    };
  const pages: Pages<Deps> = {
    get: declare("GET"),
    post: declare("POST"),
    [Symbol.iterator]: () => mounted[Symbol.iterator](),
  };
  return pages;
}

function mount<Deps>(
  dependencies: MakeDependencies<Deps>,
  { answer, answerInObject, secrets = FREE_TEXT, ...said }: UntypedPage<Deps> & Pick<RouteSpec, "method" | "path">,
): MountedRoute {
  const spec = specOf({ ...said, tag: "Pages", callers: "ANYBODY", isPage: true });
  const access = {
    spec,
    callers: "ANYBODY",
    permission: undefined,
    mayOweFactor: false,
    runsInMerchantObject: false,
    sells: answerInObject !== undefined,
    secrets,
    dependencies,
  } as const;
  const handle = (c: AppContext) => {
    const chrome = chromeOf(c);
    const isHead = c.req.method === "HEAD";
    return respond(c, chrome, {
      ...access,
      answer: (call) =>
        answer({
          ...call,
          chrome,
          isHead,
          location: geoLocationOf(c.req.raw.cf),
          handToObject: (of) => handToObject(c, spec, of),
        }),
    });
  };
  if (answerInObject === undefined) return { spec, handle };
  const inObject = {
    ...access,
    answer: (call: OpenCall<unknown, unknown, Deps>) => {
      const { merchantContext } = call;
      if (merchantContext === undefined) throw new Error(`${spec.operationId} is not in the object of a merchant`);
      return answerInObject({ ...call, merchantContext });
    },
  };
  return { spec, handle, handleInObject: (incoming, handed) => respondInObject(incoming, inObject, handed) };
}

async function handToObject(
  c: AppContext,
  { operationId }: RouteSpec,
  { merchantId, form, isRepeatable }: Handing,
): Promise<Result<HandedReply, Failure>> {
  const bytes = JSON.stringify(form).length;
  const handed = handOver(incomingOf(c), { operationId, query: c.req.query(), json: form, isPublic: true, bytes });
  const { result, cost } = await answerInMerchantObject(c.env, merchantId, { handed, isRepeatable });
  if (cost !== undefined) c.get("meter").add(cost);
  return result;
}

async function respond<Deps>(
  c: AppContext,
  chrome: Chrome,
  route: PipelineRoute<"ANYBODY", Deps, PageReply>,
): Promise<Response> {
  try {
    // Leaves out the rate limit headers, which are for programs.
    const outcome = await runPipeline(c, route, {});
    if (!outcome.ok) return await problem(c, chrome, outcome.error);
    return outcome.value.kind === "page" ? await page(c, chrome, outcome.value) : redirect(c, outcome.value);
  } catch (error) {
    // `errorResponse` also writes the log. Its response is for programs; a payer gets a page.
    const { status } = errorResponse(error, c);
    return page(c, chrome, { status, html: problemPage(chrome, { code: "INTERNAL_ERROR" }), frameAncestors: [] });
  }
}

/** The language that the URL names, else the browser's. */
function chromeOf(c: AppContext): Chrome {
  const named = c.req.query("lang") ?? "";
  const language = isLanguage(named) ? named : negotiateLanguage(c.req.header("accept-language"));
  return {
    language,
    isLanguageNamed: isLanguage(named),
    isLanguageKnown: isLanguage(named) || c.req.header("accept-language") !== undefined,
    isModal: c.req.query("view") === "modal",
    texts: textsOf(language),
    nonce: base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(18))),
    path: c.req.path,
    nowMs: c.get("nowMs"),
  };
}

async function problem(c: AppContext, chrome: Chrome, failure: Failure): Promise<Response> {
  const status = problemStatus(failure);
  const seconds = failureResponse(failure, "").headers.get("retry-after");
  const headers: Record<string, string> = seconds === null ? {} : { "retry-after": seconds };
  return page(c, chrome, { status, html: problemPage(chrome, failure), frameAncestors: [], headers });
}

function redirect(c: AppContext, { location }: Extract<PageReply, { kind: "redirect" }>): Response {
  const headers = answerHeaders(c.get("requestId"), { location });
  // Some browsers apply X-Frame-Options on a redirect to a page that may be framed.
  delete headers["x-frame-options"];
  return new Response(null, { status: 303, headers });
}

async function page(
  c: AppContext,
  { nonce }: Chrome,
  of: Omit<Extract<PageReply, { kind: "page" }>, "kind">,
): Promise<Response> {
  const frames = of.frameAncestors.length === 0 ? "'none'" : of.frameAncestors.join(" ");
  const headers = answerHeaders(c.get("requestId"), {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policyOf({
      nonce,
      frames,
      origin: publicUrl(c.env),
      challengeOrigin: of.challengeOrigin,
    }),
    // The language depends on the browser's request, and no shared cache may store a page.
    vary: "accept-language",
    ...of.headers,
  });
  // X-Frame-Options cannot name origins and would block frames that the policy allows.
  if (of.frameAncestors.length > 0) delete headers["x-frame-options"];
  if (of.drawnFrom !== undefined) {
    // Weak, because a proxy that compresses the page would make it weak anyway.
    headers.etag = `W/"${sha256Hex(of.drawnFrom).slice(0, 32)}"`;
    if (c.req.header("if-none-match") === headers.etag) return new Response(null, { status: 304, headers });
  }
  return new Response(await of.html.toString(), { status: of.status, headers });
}

interface Policy {
  readonly nonce: string;
  readonly frames: string;
  readonly origin: string;
  readonly challengeOrigin: string | undefined;
}

function policyOf({ nonce, frames, origin, challengeOrigin }: Policy): string {
  const [scripts, framed] =
    challengeOrigin === undefined ? ["", ""] : [` ${challengeOrigin}`, `; frame-src ${challengeOrigin}`];
  // In some browsers 'self' does not include a WebSocket of the same origin.
  const connect = `connect-src 'self' ${origin.replace(/^http/, "ws")}`;
  const own = `script-src 'nonce-${nonce}'${scripts}; style-src 'nonce-${nonce}'; img-src 'self' data:; ${connect}${framed}`;
  return `default-src 'none'; ${own}; base-uri 'none'; form-action 'self'; frame-ancestors ${frames}`;
}
