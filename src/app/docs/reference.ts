// Serves /openapi.json and /docs, which scripts/build-assets.ts generates from the routes. They are static assets, so that the Worker's code
// contains neither their text nor their generator.
import { sha256Hex } from "../../lib/bytes.ts";
import type { AppContext } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { answerHeaders } from "../../platform/http/security-headers.ts";
import { serversOf } from "./openapi-servers.ts";

/** The page's content security policy: files from our own origin, and the data: images in Swagger UI's style sheet. */
const DOCS_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** Five minutes, so that a new release shows soon. */
const CACHE_CONTROL = "public, max-age=300";

/** Answers with the reference of our own API. */
export function answerOpenApi(c: AppContext): Promise<Response> {
  return answerDocument(c, "openapi.json");
}

/** Answers with the reference of the routes in BTCPay Server's formats. */
export function answerGreenfield(c: AppContext): Promise<Response> {
  return answerDocument(c, "greenfield.json");
}

/** Answers with a document that names this deployment's origin as its server. */
async function answerDocument(c: AppContext, name: string): Promise<Response> {
  const origin = publicUrl(c.env);
  const made = await madeFile(c.env, name);
  const etag = `"${made.hash}-${sha256Hex(origin).slice(0, 8)}"`;
  const body = async () => {
    const servers = JSON.stringify({ servers: serversOf("") }).slice(1, -1);
    const own = JSON.stringify({ servers: serversOf(origin) }).slice(1, -1);
    return (await made.file.text()).replace(servers, () => own);
  };
  return answer(c, { body, etag, type: "application/json" });
}

export async function answerDocs(c: AppContext): Promise<Response> {
  const made = await madeFile(c.env, "docs.html");
  const type = "text/html; charset=UTF-8";
  const own = { "content-security-policy": DOCS_CSP };
  return answer(c, { body: () => made.file.text(), etag: `"${made.hash}"`, type, own });
}

/** A file of static/reference and the hash of its content; throws if it is missing. */
export async function madeFile(env: Env, name: string): Promise<{ readonly file: Response; readonly hash: string }> {
  // The assets binding ignores the host.
  const file = await env.ASSETS.fetch(`https://assets.local/reference/${name}`);
  const hash = /^(?:W\/)?"([0-9a-f]+)"$/.exec(file.headers.get("etag") ?? "")?.[1];
  if (!file.ok || hash === undefined) throw new Error(`static/reference/${name}: ${file.status}`);
  return { file, hash };
}

interface Answer {
  readonly body: () => Promise<string>;
  readonly etag: string;
  readonly type: string;
  readonly own?: Readonly<Record<string, string>>;
}

async function answer(c: AppContext, { body, etag, type, own }: Answer): Promise<Response> {
  const headers = answerHeaders(c.get("requestId"), { etag, "cache-control": CACHE_CONTROL, ...own });
  if (isKnown(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  return new Response(await body(), { headers: { ...headers, "content-type": type } });
}

/** Whether If-None-Match names the tag. A compressing proxy makes tags weak, and weak tags match too (RFC 9110 13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}
