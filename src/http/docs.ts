// The reference at /docs: the OpenAPI document as one readable page, rendered here, without a script and without anybody's server.
import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import * as z from "zod";
import { failureResponse } from "./errors.ts";
import { SAMPLES } from "./openapi.ts";
import type { RouteSpec } from "./route.ts";

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

const STYLE = `
:root{color-scheme:light dark;--line:#8884}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{overflow-x:auto;border:1px solid var(--line);border-radius:.4rem;padding:.6rem}
section{border-top:1px solid var(--line);padding-top:.5rem;margin-top:1.5rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line)}
.method{font-weight:700;display:inline-block;min-width:4.5rem}
summary{cursor:pointer}`;

/** The content security policy of the page: its own inline style, nothing else. */
export const DOCS_CSP =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function docsPage(specs: readonly RouteSpec[]): Html {
  const tags = [...new Set(specs.map((spec) => spec.tag))];
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Edgetill API reference</title><style>${raw(STYLE)}</style></head>
<body><h1>Edgetill API</h1>
<p>Non-custodial crypto payments. Send your key as <code>x-api-key</code>, JSON as <code>content-type: application/json</code>, and an
<code>Idempotency-Key</code> with every POST that creates. Amounts are decimal strings. The machine-readable form is
<a href="/openapi.json">/openapi.json</a>.</p>
<nav><ul>${tags.map((tag) => html`<li><a href="#${tag}">${tag}</a></li>`)}<li><a href="#errors">Errors</a></li></ul></nav>
${tags.map((tag) => html`<h2 id="${tag}">${tag}</h2>${specs.filter((spec) => spec.tag === tag).map(routeSection)}`)}
${errorCatalogue()}
</body></html>`;
}

function routeSection(spec: RouteSpec): Html {
  return html`<section id="${spec.operationId}">
<h3><code><span class="method">${spec.method}</span>${spec.path}</code></h3>
<p>${spec.summary}. ${spec.description ?? ""}</p>
<p>${spec.permission === null ? "Needs no key." : html`Permission <code>${spec.permission}</code>${spec.isForPublicKeys ? "; public keys may call it" : ""}.`}
${spec.isIdempotent ? html`Takes an <code>Idempotency-Key</code>.` : ""}</p>
${schemaBlock("Query", spec.query, "input")}
${schemaBlock("Body", spec.body, "input")}
${spec.answers.map((answer) =>
  answer.schema === undefined
    ? html`<p>${answer.status}: ${answer.description}</p>`
    : schemaBlock(`${answer.status} ${answer.description}`, answer.schema(), "output"),
)}
${spec.refusals.length === 0 ? "" : html`<p>Refusals: ${spec.refusals.map((code) => html`<a href="#${code}"><code>${code}</code></a> `)}</p>`}
</section>`;
}

function schemaBlock(title: string, schema: z.ZodType, io: "input" | "output"): Html | string {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  const members = Object.keys(Object(json.properties));
  if (json.type === "object" && members.length === 0) return "";
  if (Object.keys(json).length === 0) return "";
  return html`<details><summary>${title}: ${members.join(", ")}</summary><pre>${JSON.stringify(json, null, 2)}</pre></details>`;
}

function errorCatalogue(): Html {
  const rows = Object.values(SAMPLES).map((failure) => ({
    code: failure.code,
    status: failureResponse(failure, "").status,
  }));
  return html`<section id="errors"><h2>Errors</h2>
<p>Every failure is <code>{ statusCode, message, error, code, requestId, details? }</code>. Compare <code>code</code>, show
<code>message</code>. Retry a POST only with an Idempotency-Key, on network errors, 429 and 5xx, with exponential backoff and jitter,
and honour <code>Retry-After</code>.</p>
<table><tr><th>code</th><th>status</th></tr>
${rows.map(({ code, status }) => html`<tr id="${code}"><td><code>${code}</code></td><td>${status}</td></tr>`)}</table></section>`;
}
