// The body is read once, before authentication, because the one storage read of a request is keyed by strings in it; whatever is wrong
// with it is only told to a caller who has proved who they are.
import type { Failure } from "../failures.ts";
import type { Json } from "../lib/canonical-json.ts";
import { err, ok, type Result } from "../lib/result.ts";

export const MAX_BODY_BYTES = 65_536;
/** Nesting beyond this is refused before any schema walks it (security.md 4). */
export const MAX_DEPTH = 8;

export interface ParsedBody {
  /** Undefined when there was no body. */
  readonly json: Json | undefined;
}

/** Reads at most 64 KiB and parses it; a request without a body needs no content type. */
export async function readBody(request: Request): Promise<Result<ParsedBody, Failure>> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) return err({ code: "BODY_TOO_LARGE" });
  const bytes = await readBounded(request.body);
  if (bytes === undefined) return err({ code: "BODY_TOO_LARGE" });
  if (bytes.length === 0) return ok({ json: undefined });
  if (!isJsonMediaType(request.headers.get("content-type"))) return err({ code: "UNSUPPORTED_MEDIA_TYPE" });
  const json = parseJson(bytes);
  if (json === undefined) return err({ code: "MALFORMED_JSON" });
  const problem = textProblem(json, 1);
  return problem === undefined
    ? ok({ json })
    : err({ code: "VALIDATION_FAILED", details: [{ path: "", message: problem }] });
}

/** Reads a form of a page (`application/x-www-form-urlencoded`), at most 64 KiB; of a name that comes twice the last one counts. */
export async function readForm(request: Request): Promise<Result<Record<string, string>, Failure>> {
  const bytes = await readBounded(request.body);
  if (bytes === undefined) return err({ code: "BODY_TOO_LARGE" });
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (bytes.length > 0 && type !== "application/x-www-form-urlencoded") return err({ code: "UNSUPPORTED_MEDIA_TYPE" });
  const fields = Object.fromEntries(new URLSearchParams(new TextDecoder().decode(bytes)));
  const problem = textProblem(fields, 1);
  return problem === undefined
    ? ok(fields)
    : err({ code: "VALIDATION_FAILED", details: [{ path: "", message: problem }] });
}

async function readBounded(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

function isJsonMediaType(header: string | null): boolean {
  return (header ?? "").split(";")[0]?.trim().toLowerCase() === "application/json";
}

function parseJson(bytes: Uint8Array): Json | undefined {
  try {
    const parsed: Json = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
    return parsed;
  } catch {
    return undefined;
  }
}

/** NUL and lone surrogates are refused everywhere (decisions 1), keys included, as is nesting beyond `MAX_DEPTH`. */
function textProblem(value: Json, depth: number): string | undefined {
  if (typeof value === "string") return stringProblem(value);
  if (value === null || typeof value !== "object") return undefined;
  if (depth > MAX_DEPTH) return `the body is nested deeper than ${MAX_DEPTH} levels`;
  for (const [key, member] of Object.entries(value)) {
    const problem = stringProblem(key) ?? textProblem(member, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function stringProblem(text: string): string | undefined {
  if (text.includes("\0")) return "text must not contain the NUL character";
  return text.isWellFormed() ? undefined : "text must be well-formed Unicode, without lone surrogates";
}
