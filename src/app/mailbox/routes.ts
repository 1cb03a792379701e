// `/dev/mail`: mails that a development server would have sent, for developers and their programs. The path does not exist in other
// environments, because mails contain codes that sign users in.
import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import { type MountedRoute, routesOf } from "../../accounts/pipeline/routes-of.ts";
import { ok } from "../../lib/result.ts";
import type { AppContext } from "../../platform/http/context.ts";
import { isDevelopment } from "../../platform/http/deployment.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { jsonReply, type Reply } from "../../platform/http/reply.ts";
import { mailListBody, mailsQuery } from "../../platform/mail/contract.ts";
import { mailboxReader } from "../../platform/mail/dependencies.ts";
import type { Mail } from "../../platform/mail/mail.ts";

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;
type ShownMail = Mail & { readonly at: string };

const mailbox = routesOf({ tag: "Service", callers: "ANYBODY", dependencies: mailboxReader }).get("/dev/mail", {
  operationId: "developmentMail",
  summary: "Mails of a development server, newest first",
  description: "Only exists with ENVIRONMENT=development.",
  query: mailsQuery,
  answers: [
    {
      status: 200,
      description: "The newest mails, at most 500; HTML unless JSON is requested",
      schema: mailListBody,
      alsoAs: "text/html",
    },
  ],
  refusals: ["ROUTE_NOT_FOUND", "VALIDATION_FAILED"],
  answer: async (call) => {
    const mails = await call.deps.list(call.query.to);
    return ok(wantsJson(call.accept) ? jsonReply(200, mails) : await pageReply(mails));
  },
});

export const mailRoutes: readonly MountedRoute[] = [...mailbox].map(inDevelopment);

/** In other environments the request is not read: the response is that of an unknown path. */
function inDevelopment({ spec, handle }: MountedRoute): MountedRoute {
  const nothing = (c: AppContext) => failureResponse({ code: "ROUTE_NOT_FOUND" }, c.get("requestId"));
  return { spec, handle: async (c) => (isDevelopment(c.env) ? handle(c) : nothing(c)) };
}

function wantsJson(accept: string | undefined): boolean {
  return accept !== undefined && /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
}

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:0 auto;padding:1rem}pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #8884;border-radius:.4rem;padding:.6rem}:root{color-scheme:light dark}";

/** Allows only the page's own style and links: it shows a mail's text, not its HTML. */
const CSP =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

async function pageReply(mails: readonly ShownMail[]): Promise<Reply> {
  const body = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Development mailbox</title><style>${STYLE}</style></head>
<body><h1>Development mailbox</h1>
<p>What this server would have sent, newest first. As JSON: <code>curl -H 'accept: application/json'</code>, one address: <code>?to=</code>.</p>
${mails.length === 0 ? html`<p>No mail yet.</p>` : mails.map(mailSection)}
</body></html>`;
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": CSP };
  return { status: 200, body: String(body), headers };
}

function mailSection(mail: ShownMail): Html {
  return html`<article><h2>${mail.subject}</h2>
<p>To <a href="?to=${encodeURIComponent(mail.to)}">${mail.to}</a>, <time datetime="${mail.at}">${mail.at}</time></p>
<pre>${linked(mail.text)}</pre></article>`;
}

/** Turns URLs into links; escapes everything. */
function linked(text: string): readonly (Html | string)[] {
  const parts = text.split(/(https?:\/\/\S+)/);
  return parts.map((part, i) => (i % 2 === 1 ? html`<a href="${part}">${part}</a>` : part));
}
