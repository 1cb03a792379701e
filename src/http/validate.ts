// Zod's verdict in our envelope. Unknown fields are refused by the schemas (`strictObject`), so that a typo is never silently dropped.
import type * as z from "zod";
import type { Failure, FieldProblem } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";

/** Parses a value with a schema; every problem is named by its path. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): Result<z.output<S>, Failure> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  return err({ code: "VALIDATION_FAILED", details: parsed.error.issues.map(problemOf) });
}

function problemOf(issue: z.core.$ZodIssue): FieldProblem {
  return { path: issue.path.map(String).join("."), message: issue.message };
}
