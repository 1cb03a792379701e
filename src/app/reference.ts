// Serves /openapi.json and /docs as they were made from the routes (`npm run reference:build`): nothing is rendered for a request.
import { sha256Hex } from "../lib/bytes.ts";
import type { AppContext } from "../platform/http/context.ts";
import { publicUrl } from "../platform/http/deployment.ts";
import { answerHeaders } from "../platform/http/security-headers.ts";
import { serversOf } from "./openapi-servers.ts";
import { DOCS, HASH, OPENAPI } from "./reference.generated.ts";

/** The content security policy of the page: its own inline style, nothing else. */
const DOCS_CSP =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** Five minutes: a new release is seen soon. */
const CACHE_CONTROL = "public, max-age=300";

/** The document, with the origin of this deployment as its server. */
export function answerOpenApi(c: AppContext): Response {
  const origin = publicUrl(c.env);
  const servers = JSON.stringify({ servers: serversOf("") }).slice(1, -1);
  const own = JSON.stringify({ servers: serversOf(origin) }).slice(1, -1);
  const text = () => OPENAPI.replace(servers, () => own);
  return answer(c, { text, etag: `"${HASH}-${sha256Hex(origin).slice(0, 8)}"`, type: "application/json" });
}

export function answerDocs(c: AppContext): Response {
  const type = "text/html; charset=UTF-8";
  return answer(c, { text: () => DOCS, etag: `"${HASH}"`, type, more: { "content-security-policy": DOCS_CSP } });
}

function answer(
  c: AppContext,
  of: {
    readonly text: () => string;
    readonly etag: string;
    readonly type: string;
    readonly more?: Readonly<Record<string, string>>;
  },
): Response {
  const { etag } = of;
  const headers = answerHeaders(c.get("requestId"), { etag, "cache-control": CACHE_CONTROL, ...of.more });
  if (isKnown(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  return new Response(of.text(), { headers: { ...headers, "content-type": of.type } });
}

/** Whether If-None-Match names the tag. What compresses on the way makes tags weak, and those count (RFC 9110 13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}
