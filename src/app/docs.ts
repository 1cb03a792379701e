// The reference at /docs, made when the Worker is built: the OpenAPI document as one readable page, rendered here, with no script or other server.
import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type * as z from "zod";
import { type JsonSchema, jsonSchema, type NamedSchemas, namesIn } from "../platform/http/json-schema.ts";
import { refusalStatus, refusalsOf, SAMPLES } from "../platform/http/refusals.ts";
import { accessText, inOrderOfTags, type RouteSpec, TAGS } from "../platform/http/route.ts";

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

const STYLE = `
:root{color-scheme:light dark;--line:#8884}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
pre{overflow-x:auto;border:1px solid var(--line);border-radius:.4rem;padding:.6rem}
section{border-top:1px solid var(--line);padding-top:.5rem;margin-top:1.5rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line)}
.method{margin-right:1rem}`;

export function docsPage(specs: readonly RouteSpec[]): Html {
  const tags = Object.entries(TAGS);
  const named: NamedSchemas = {};
  const sections = inOrderOfTags(specs).map((spec) => ({ tag: spec.tag, section: routeSection(spec, named) }));
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Edgetill API reference</title><style>${raw(STYLE)}</style></head>
<body><h1>Edgetill API</h1>
<p>Non-custodial crypto payments. A server sends its key as <code>x-api-key</code>. A person <a href="/sign-in">signs in</a>: the browser then
has a session cookie, and every change wants our own <code>Origin</code> header too. Send JSON as <code>content-type: application/json</code>,
and an <code>Idempotency-Key</code> with every POST that creates. Amounts are decimal strings. The machine-readable form is
<a href="/openapi.json">/openapi.json</a>.</p>
<nav><ul>${tags.map(([tag, about]) => html`<li><a href="#${tag}">${tag}</a>: ${about}</li>`)}<li><a href="#schemas">Schemas</a></li><li><a href="#errors">Errors</a></li></ul></nav>
${tags.map(([tag]) => html`<h2 id="${tag}">${tag}</h2>${sections.filter((each) => each.tag === tag).map(({ section }) => section)}`)}
<section id="schemas"><h2>Schemas</h2>${Object.entries(named).map(([name, json]) => html`<div id="schema-${name}">${jsonBlock(name, json)}</div>`)}</section>
${errorCatalogue()}
</body></html>`;
}

function routeSection(spec: RouteSpec, named: NamedSchemas): Html {
  return html`<section id="${spec.operationId}">
<h3><code><span class="method">${spec.method}</span>${spec.path}</code></h3>
<p>${spec.summary}. ${withCode(spec.description ?? "")}</p>
<p>${accessText(spec)}
${spec.isIdempotent ? html`Takes an <code>Idempotency-Key</code>.` : ""}</p>
${schemaBlock("Query", spec.query(), "input", named)}
${schemaBlock("Body", spec.body(), "input", named)}
${spec.answers.map((answer) =>
  answer.schema === undefined
    ? html`<p>${answer.status}: ${withCode(answer.description)}</p>`
    : schemaBlock(`${answer.status} ${answer.description}`, answer.schema(), "output", named),
)}
${spec.isPage ? "" : html`<p>Refusals: ${refusalsOf(spec).map((code) => html`<a href="#${code}"><code>${code}</code></a> `)}</p>`}
</section>`;
}

/** Shows the text between backticks as code. */
function withCode(text: string): (Html | string)[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

/** Nothing for a schema without members. */
function schemaBlock(title: string, schema: z.ZodType, io: "input" | "output", named: NamedSchemas): Html | string {
  const json = jsonSchema(schema, io, named);
  return json.type === "object" && Object.keys(Object(json.properties)).length === 0 ? "" : jsonBlock(title, json);
}

/** Names its members, or links to the schemas that it refers to. */
function jsonBlock(title: string, json: JsonSchema): Html {
  const members = Object.keys(Object(json.properties)).join(", ");
  const links = namesIn(json).map((name) => html`<a href="#schema-${name}">${name}</a> `);
  return html`<details><summary>${title}: ${members || links}</summary><pre>${JSON.stringify(json, null, 2)}</pre></details>`;
}

function errorCatalogue(): Html {
  const rows = Object.values(SAMPLES).map((failure) => ({
    code: failure.code,
    status: refusalStatus(failure.code),
  }));
  return html`<section id="errors"><h2>Errors</h2>
<p>Every failure is <code>{ statusCode, message, error, code, requestId, details? }</code>. Compare <code>code</code>, show
<code>message</code>. Retry a POST only with an Idempotency-Key, on network errors, 429 and 5xx, with exponential backoff and jitter,
and honour <code>Retry-After</code>.</p>
<table><tr><th>code</th><th>status</th></tr>
${rows.map(({ code, status }) => html`<tr id="${code}"><td><code>${code}</code></td><td>${status}</td></tr>`)}</table></section>`;
}
