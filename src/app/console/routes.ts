// Answers navigations to pages of the console with its one HTML page, a static asset (dashboard/). Requests that do not accept HTML get the
// usual 404: an integration that mistypes a path must not get a page.
import { base64urlnopad } from "@scure/base";
import { askedPage } from "../../accounts/applications/asked-page.ts";
import type { MountedRoute } from "../../accounts/pipeline/routes-of.ts";
import type { AppContext } from "../../platform/http/context.ts";
import { isDevelopment } from "../../platform/http/deployment.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { specOf } from "../../platform/http/route.ts";
import { hasControlPort } from "../test-chain/dependencies.ts";
import { CONSOLE_PAGES } from "./paths.ts";

/** Placeholder in the page for the nonce (dashboard/vite.config.ts). */
const NONCE_WORD = "CSP_NONCE";
/** Placeholder in the page for the facts about the deployment that the console needs before its first request (dashboard/src/shell/deployment.ts). */
const DEPLOYMENT_WORDS = "DEPLOYMENT_WORDS";

export const consoleRoutes: readonly MountedRoute[] = [
  mount("frontPage", "/", {
    summary: "Go to the console",
    answers: [{ status: 302, description: "Redirect to `/console`" }],
    answer: async (c) => c.redirect(CONSOLE_PAGES.start.path, 302),
  }),
  ...Object.entries(CONSOLE_PAGES).map(([name, { path, summary }]) =>
    mount(`${name}Page`, path, {
      summary,
      answers: [{ status: 200, description: "The page of the console", alsoAs: "text/html" }],
      answer: (c) => consolePage(c, path === CONSOLE_PAGES.authorize.path ? asked(c) : {}),
    }),
  ),
];

interface Page {
  readonly summary: string;
  readonly answers: Parameters<typeof specOf>[0]["answers"];
  readonly answer: (c: AppContext) => Promise<Response>;
}

function mount(operationId: string, path: string, { summary, answers, answer }: Page): MountedRoute {
  return {
    spec: specOf({
      method: "GET",
      path,
      operationId,
      summary,
      answers,
      tag: "Pages",
      callers: "ANYBODY",
      description: "Only for browsers: a request that does not accept `text/html` gets 404.",
      refusals: ["ROUTE_NOT_FOUND"],
    }),
    handle: async (c) =>
      isNavigation(c) ? answer(c) : failureResponse({ code: "ROUTE_NOT_FOUND" }, c.get("requestId")),
  };
}

interface PageOptions {
  readonly status?: 200 | 503;
  readonly words?: string;
  readonly formAction?: string | undefined;
}

/** Whether the request is a browser's navigation to a page. */
export function isNavigation(c: AppContext): boolean {
  return /\btext\/html\b/i.test(c.req.header("accept") ?? "");
}

function asked(c: AppContext): PageOptions {
  const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
  return askedPage({ settings: c.env, url: c.req.url, nowMs: c.get("nowMs"), randomBytes });
}

/**
 * The console's page. `words`: facts for the page, in addition to those about the deployment. `formAction`: the origin to which it may submit a form.
 */
export async function consolePage(
  c: AppContext,
  { status = 200, words = "", formAction }: PageOptions = {},
): Promise<Response> {
  // The assets binding ignores the host.
  const file = await c.env.ASSETS.fetch("https://assets.local/console/page.html");
  if (!file.ok) throw new Error(`static/console/page.html: ${file.status}`);
  const nonce = base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(18)));
  const page = await file.text();
  const text = page.replaceAll(NONCE_WORD, nonce).replace(DEPLOYMENT_WORDS, `${offeredWords(c.env)} ${words}`.trim());
  return c.html(text, status, { "content-security-policy": policyOf(nonce, formAction) });
}

function offeredWords(env: Env): string {
  return [...(isDevelopment(env) ? ["mailbox"] : []), ...(hasControlPort(env) ? ["test-chain"] : [])].join(" ");
}

/** Scripts are our own files; the nonce is for the style elements that the components write. */
function policyOf(nonce: string, formAction = "'none'"): string {
  const own = `script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'`;
  return `default-src 'none'; ${own}; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`;
}
