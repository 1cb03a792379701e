// What a schema says of the parts of a request. The schemas are asked by Hono's validator, as in any service of Hono's; two things it would do
// differently. It answers a fault at once, in its own form: here the answer is ours, and waits until the caller is proved (401 before 400). And it
// takes what it cannot read for an empty object, or throws: so `body.ts` reads first, and hands on what is known to be JSON or a form.
import { zValidator } from "@hono/zod-validator";
import type { MiddlewareHandler } from "hono";
import type * as z from "zod";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure, FieldProblem } from "../failures.ts";
import type { AppContext, AppEnv } from "./context.ts";

/** The value as the schema makes it. */
type Verdict = Result<unknown, Failure>;

/** The query as the schema makes it. Of a name that comes twice the first one counts. */
export function validateQuery(c: AppContext, schema: z.ZodType): Promise<Verdict> {
  return verdictOf(c, "query", schema, (query) => oneOfEach(query, 0));
}

/** The body that was read from the request, as the schema makes it. Of a name that comes twice in a form the last one counts. */
export function validateBody(
  c: AppContext,
  target: "json" | "form",
  schema: z.ZodType,
  bytes: Uint8Array,
): Promise<Verdict> {
  c.req.raw = new Request(c.req.raw, { body: bytes });
  return verdictOf(c, target, schema, target === "form" ? (form) => oneOfEach(form, -1) : (json) => json);
}

/** The same for what no request was read for: no body at all, or that of a GET, with which no `Request` can be made. */
export function validate(schema: z.ZodType, value: unknown): Verdict {
  return verdict(schema.safeParse(value));
}

async function verdictOf(
  c: AppContext,
  target: "json" | "form" | "query",
  schema: z.ZodType,
  given: (value: object) => object,
): Promise<Verdict> {
  const { promise, resolve } = Promise.withResolvers<Verdict>();
  const check: MiddlewareHandler<AppEnv> = zValidator(
    target,
    schema,
    (result) => {
      resolve(verdict(result));
      return new Response();
    },
    { validationFunction: (_, value) => schema.safeParse(given(value)) },
  );
  // Neither what the hook returns nor what comes next is an answer: that is for the pipeline.
  await check(c, async () => {});
  return promise;
}

type Parsed =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: z.core.$ZodError };

/** Every problem is named by its path. Unknown fields are refused by the schemas (`strictObject`), so that a typo is never silently dropped. */
function verdict(parsed: Parsed): Verdict {
  if (parsed.success) return ok(parsed.data);
  return err({ code: "VALIDATION_FAILED", details: parsed.error.issues.flatMap(problemsOf) });
}

/** The validator makes a list of the values of a name that comes twice. */
function oneOfEach(values: object, which: 0 | -1): object {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.at(which) : value]),
  );
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
