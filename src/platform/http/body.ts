// The body is read once, before authentication, because the one storage read of a request is keyed by strings in it; whatever is wrong
// with it is only reported to a caller who has proved who they are.

import type * as z from "zod";
import { LIMITS } from "../../lib/limits.ts";
import { readBytes } from "../../lib/read-bytes.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Failure, FieldProblem } from "../failures.ts";

export const MAX_BODY_BYTES = LIMITS.bodyBytes;
/** Nesting beyond this is refused before any schema walks it. */
export const MAX_DEPTH = LIMITS.bodyDepth;

export interface ParsedBody {
  /** Undefined when there was no body. */
  readonly json: Json | undefined;
}

/** Reads at most 64 KiB and parses it; a request without a body needs no content type. */
export async function readBody(request: Request): Promise<Result<ParsedBody, Failure>> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) return err({ code: "BODY_TOO_LARGE" });
  const { bytes, isWhole } = await readBytes(request.body, { limitBytes: MAX_BODY_BYTES });
  if (!isWhole) return err({ code: "BODY_TOO_LARGE" });
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
  const { bytes, isWhole } = await readBytes(request.body, { limitBytes: MAX_BODY_BYTES });
  if (!isWhole) return err({ code: "BODY_TOO_LARGE" });
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (bytes.length > 0 && type !== "application/x-www-form-urlencoded") return err({ code: "UNSUPPORTED_MEDIA_TYPE" });
  const fields = Object.fromEntries(new URLSearchParams(new TextDecoder().decode(bytes)));
  const problem = textProblem(fields, 1);
  return problem === undefined
    ? ok(fields)
    : err({ code: "VALIDATION_FAILED", details: [{ path: "", message: problem }] });
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

/**
 * Parses a value with a schema; every problem is named by its path. Unknown fields are refused by the schemas (`strictObject`), so that a typo is
 * never silently dropped.
 */
export function validate<S extends z.ZodType>(schema: S, value: unknown): Result<z.output<S>, Failure> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  return err({ code: "VALIDATION_FAILED", details: parsed.error.issues.flatMap(problemsOf) });
}

/** Every unknown field is a problem of its own, at its own path. */
function problemsOf(issue: z.core.$ZodIssue): readonly FieldProblem[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key].join("."), message: "unknown field" }));
  }
  return [{ path: path.join("."), message: isAbsent(issue) ? absentMessage(path) : issue.message }];
}

/** For a value that was not sent Zod says that `undefined` was received, which JSON does not have. */
function isAbsent(issue: z.core.$ZodIssue): boolean {
  return issue.code === "invalid_type" && issue.message.endsWith("received undefined");
}

function absentMessage(path: readonly string[]): string {
  return path.length === 0 ? "a JSON body is required" : "is required";
}
