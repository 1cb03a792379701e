// The pipeline of the pages that payers see. Nobody is known here: an invoice's unguessable id is all that it takes. Each answer brings its
// own policy: our script and style by nonce, nothing of anybody else, and frames only of the origins the merchant named (security.md 4).
import { base64urlnopad } from "@scure/base";
import type * as z from "zod";
import { type GivenEffects, givenEffects, type MakeEffects, type MountedRoute } from "../auth/middleware.ts";
import type { Failure } from "../failures.ts";
import { readForm } from "../http/body.ts";
import { type AppContext, callerIp, errorResponse } from "../http/context.ts";
import { publicUrl } from "../http/deployment.ts";
import type { RouteSpec } from "../http/route.ts";
import { answerHeaders } from "../http/security-headers.ts";
import { validate } from "../http/validate.ts";
import { sha256Hex } from "../lib/bytes.ts";
import type { RequestId } from "../lib/ids.ts";
import { err, type Result } from "../lib/result.ts";
import { limitByIp } from "../sign-in/middleware.ts";
import { containsSecret, FREE_TEXT } from "../wallets/secret-material.ts";
import type { Chrome } from "./chrome.ts";
import { isLanguage, negotiateLanguage } from "./languages.ts";
import { problemPage, problemStatus } from "./problem-page.tsx";
import { textsOf } from "./texts.ts";

/** What hono/jsx makes of an element. */
type Html = string | { toString(): string | Promise<string> } | Promise<string>;

export interface PageCall<Body, Query, Fx> extends GivenEffects {
  readonly fx: Fx;
  readonly env: Env;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Whether only the headers are wanted: then nothing should come of it. */
  readonly isHead: boolean;
  /** The fields of the form; of a GET, an empty one's. */
  readonly form: Body;
  readonly chrome: Chrome;
  readonly ip: string | null;
  readonly requestId: RequestId;
}

export type PageReply =
  | {
      readonly kind: "page";
      readonly status: number;
      readonly html: Html;
      /** Origins that may frame it. */
      readonly frameAncestors: readonly string[];
      /** Of a part of a page: all that it is drawn from, so that a copy that is still good is known before anything is drawn. */
      readonly drawnFrom?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** 303, so that a form's answer can be loaded again. */
  | { readonly kind: "redirect"; readonly location: string };

export interface PageRoute<B extends z.ZodType, Q extends z.ZodType, Fx> {
  readonly spec: RouteSpec<B, Q> & { readonly callers: "ANYBODY"; readonly permission: null };
  readonly effects: MakeEffects<Fx>;
  /** A refusal becomes a page in the payer's language. */
  readonly answer: (call: PageCall<z.output<B>, z.output<Q>, Fx>) => Promise<Result<PageReply, Failure>>;
}

export function pageRoute<B extends z.ZodType, Q extends z.ZodType, Fx>(route: PageRoute<B, Q, Fx>): MountedRoute {
  return {
    spec: route.spec,
    handle: async (c) => {
      const chrome = chromeOf(c);
      try {
        const outcome = await run(c, route, chrome);
        if (!outcome.ok) return await problem(c, chrome, outcome.error);
        return outcome.value.kind === "page" ? await page(c, chrome, outcome.value) : redirect(c, outcome.value);
      } catch (error) {
        // It writes the log; people get a page.
        const { status } = errorResponse(error, c);
        const html = problemPage(chrome, { code: "INTERNAL_ERROR" });
        return page(c, chrome, { status, html, frameAncestors: [] });
      }
    },
  };
}

async function run<B extends z.ZodType, Q extends z.ZodType, Fx>(
  c: AppContext,
  { spec, effects, answer }: PageRoute<B, Q, Fx>,
  chrome: Chrome,
): Promise<Result<PageReply, Failure>> {
  const limited = await limitByIp(c, {});
  if (limited !== undefined) return err(limited);
  const fields = spec.method === "GET" ? undefined : await readForm(c.req.raw);
  if (fields !== undefined && !fields.ok) return fields;
  if (fields !== undefined && containsSecret(fields.value, FREE_TEXT)) return err({ code: "PRIVATE_KEY_REFUSED" });
  const query = validate(spec.query, c.req.query());
  if (!query.ok) return query;
  const form = validate(spec.body, fields?.value);
  if (!form.ok) return form;
  const given = givenEffects(c);
  return answer({
    ...given,
    fx: effects(c.env, given),
    env: c.env,
    params: c.req.param() satisfies Readonly<Record<string, string>>,
    query: query.value,
    isHead: c.req.method === "HEAD",
    form: form.value,
    chrome,
    ip: callerIp(c) ?? null,
    requestId: c.get("requestId"),
  });
}

/** The language that the address names, else the browser's. */
function chromeOf(c: AppContext): Chrome {
  const named = c.req.query("lang") ?? "";
  const language = isLanguage(named) ? named : negotiateLanguage(c.req.header("accept-language"));
  return {
    language,
    isLanguageNamed: isLanguage(named),
    isLanguageKnown: isLanguage(named) || c.req.header("accept-language") !== undefined,
    texts: textsOf(language),
    nonce: base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(18))),
    path: c.req.path,
    nowMs: c.get("nowMs"),
  };
}

async function problem(c: AppContext, chrome: Chrome, failure: Failure): Promise<Response> {
  const status = problemStatus(failure);
  const wait: Record<string, string> =
    "retryAfterSeconds" in failure ? { "retry-after": String(failure.retryAfterSeconds) } : {};
  return page(c, chrome, { status, html: problemPage(chrome, failure), frameAncestors: [], headers: wait });
}

function redirect(c: AppContext, { location }: Extract<PageReply, { kind: "redirect" }>): Response {
  const headers = answerHeaders(c.get("requestId"), { location });
  // Some browsers heed it on the way to a page that may be framed.
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
    "content-security-policy": policyOf(nonce, frames, publicUrl(c.env)),
    // The language depends on what the browser asks for, and nobody in between may keep a page.
    vary: "accept-language",
    ...of.headers,
  });
  // It knows no origins, and would refuse what the policy allows.
  if (of.frameAncestors.length > 0) delete headers["x-frame-options"];
  if (of.drawnFrom !== undefined) {
    // Weak, because whoever compresses it on the way would make it so.
    headers.etag = `W/"${sha256Hex(of.drawnFrom).slice(0, 32)}"`;
    if (c.req.header("if-none-match") === headers.etag) return new Response(null, { status: 304, headers });
  }
  return new Response(await of.html.toString(), { status: of.status, headers });
}

/** Some browsers do not take a WebSocket of the own origin for 'self'. */
function policyOf(nonce: string, frames: string, origin: string): string {
  const own = `script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self' ${origin.replace(/^http/, "ws")}`;
  return `default-src 'none'; ${own}; base-uri 'none'; form-action 'self'; frame-ancestors ${frames}`;
}
