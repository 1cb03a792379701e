// Zod's verdict in our envelope. Unknown fields are refused by the schemas (`strictObject`), so that a typo is never silently dropped.
import type * as z from "zod";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure, FieldProblem } from "../failures.ts";

/** Parses a value with a schema; every problem is named by its path. */
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
