// The body is read once, before authentication, because the request's single read of storage needs values from it. A problem with the body is only
// reported to an authenticated caller.

import { LIMITS } from "../../lib/limits.ts";
import { readBytes } from "../../lib/read-bytes.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Failure } from "../failures.ts";

export const MAX_BODY_BYTES = LIMITS.bodyBytes;
/** Deeper nesting, and more values, are refused before a schema walks the body. */
export const MAX_DEPTH = LIMITS.bodyDepth;
export const MAX_VALUES = LIMITS.bodyValues;

export interface ParsedBody {
  /** Undefined without a body. For a form: an object of its fields. */
  readonly json: Json | undefined;
  /** The body as text, for the validator to read again (`validate.ts`); undefined without a body. */
  readonly text: string | undefined;
  /** The body's length in bytes. */
  readonly bytes: number;
}

export const NO_BODY: ParsedBody = { json: undefined, text: undefined, bytes: 0 };

/** Reads at most 64 KiB and parses it; a request without a body needs no content type. */
export async function readBody(request: Request): Promise<Result<ParsedBody, Failure>> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) return err({ code: "BODY_TOO_LARGE" });
  const { bytes, isWhole } = await readBytes(request.body, { limitBytes: MAX_BODY_BYTES });
  if (!isWhole) return err({ code: "BODY_TOO_LARGE" });
  if (bytes.length === 0) return ok(NO_BODY);
  if (!isJsonMediaType(request.headers.get("content-type"))) return err({ code: "UNSUPPORTED_MEDIA_TYPE" });
  if (hasTooManyValues(bytes)) return invalid(TOO_MANY_VALUES);
  const parsed = parseJson(bytes);
  if (parsed === undefined) return err({ code: "MALFORMED_JSON" });
  const problem = textProblem(parsed.json, 1);
  return problem === undefined ? ok({ ...parsed, bytes: bytes.length }) : invalid(problem);
}

/** Reads a page's form (`application/x-www-form-urlencoded`), at most 64 KiB. If a name occurs twice, its last value counts. */
export async function readForm(request: Request): Promise<Result<ParsedBody, Failure>> {
  const { bytes, isWhole } = await readBytes(request.body, { limitBytes: MAX_BODY_BYTES });
  if (!isWhole) return err({ code: "BODY_TOO_LARGE" });
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (bytes.length > 0 && type !== "application/x-www-form-urlencoded") return err({ code: "UNSUPPORTED_MEDIA_TYPE" });
  const text = new TextDecoder().decode(bytes);
  if (text.split("&", MAX_VALUES + 1).length > MAX_VALUES) return invalid(TOO_MANY_VALUES);
  const fields = Object.fromEntries(new URLSearchParams(text));
  const problem = textProblem(fields, 1);
  return problem === undefined
    ? ok({ json: fields, text: text === "" ? undefined : text, bytes: bytes.length })
    : invalid(problem);
}

function isJsonMediaType(header: string | null): boolean {
  return (header ?? "").split(";")[0]?.trim().toLowerCase() === "application/json";
}

/** A decoder keeps no state between complete texts. */
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

function parseJson(bytes: Uint8Array): { readonly json: Json; readonly text: string } | undefined {
  try {
    const text = UTF_8.decode(bytes);
    const json: Json = JSON.parse(text);
    return { json, text };
  } catch {
    return undefined;
  }
}

const TOO_MANY_VALUES = `the body must not have more than ${MAX_VALUES} members and items`;

function invalid(message: string): Result<never, Failure> {
  return err({ code: "VALIDATION_FAILED", details: [{ path: "", message }] });
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** Counts the starts of members and items, outside of strings, before anything is parsed, because parsing thousands of them takes too long. */
function hasTooManyValues(bytes: Uint8Array): boolean {
  let values = 0;
  let isInText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isInText = !isInText;
    else if (isInText) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1;
    if (values > MAX_VALUES) return true;
  }
  return false;
}

/** NUL and lone surrogates are refused everywhere (decisions 1), including in keys, and so is nesting beyond `MAX_DEPTH`. */
function textProblem(value: Json, depth: number): string | undefined {
  if (typeof value === "string") return stringProblem(value);
  if (value === null || typeof value !== "object") return undefined;
  if (depth > MAX_DEPTH) return `the body must not be nested deeper than ${MAX_DEPTH} levels`;
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
