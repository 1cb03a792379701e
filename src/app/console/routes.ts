// Answers navigations to pages of the console with its one HTML page, a static asset (dashboard/). Requests that do not accept HTML get the
// usual 404: an integration that mistypes a path must not get a page.
import { base64urlnopad } from "@scure/base";
import type { MountedRoute } from "../../accounts/pipeline/routes-of.ts";
import type { AppContext } from "../../platform/http/context.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { specOf } from "../../platform/http/route.ts";
import { CONSOLE_PAGES } from "./paths.ts";

/** The word in the page that stands for the nonce (dashboard/vite.config.ts). */
const NONCE_WORD = "CSP_NONCE";

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
      answer: consolePage,
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
      ...{ method: "GET", path, operationId, summary, answers },
      tag: "Pages",
      callers: "ANYBODY",
      description: "Only for browsers: a request that does not accept `text/html` gets 404.",
      refusals: ["ROUTE_NOT_FOUND"],
    }),
    handle: async (c) =>
      isNavigation(c) ? answer(c) : failureResponse({ code: "ROUTE_NOT_FOUND" }, c.get("requestId")),
  };
}

function isNavigation(c: AppContext): boolean {
  return /\btext\/html\b/i.test(c.req.header("accept") ?? "");
}

async function consolePage(c: AppContext): Promise<Response> {
  // The assets binding ignores the host.
  const file = await c.env.ASSETS.fetch("https://assets.local/console/page.html");
  if (!file.ok) throw new Error(`static/console/page.html: ${file.status}`);
  const nonce = base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(18)));
  const text = (await file.text()).replaceAll(NONCE_WORD, nonce);
  return c.html(text, 200, { "content-security-policy": policyOf(nonce) });
}

/** Scripts are files of our own; the nonce is for the style elements that the components write. */
function policyOf(nonce: string): string {
  const own = `script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'`;
  return `default-src 'none'; ${own}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}
