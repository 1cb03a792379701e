// Reads what the pipeline needs from a request, either as sent or translated from another API's request (commerce/greenfield), and validates it with
// Hono's validator. Two of the validator's behaviours are replaced. It would respond to an invalid request at once and in its own format; instead the
// pipeline responds in ours, after authentication (401 before 400). It would treat an unreadable body as an empty object, or throw; instead `body.ts`
// reads the body first, and only passes on JSON and forms.
import { zValidator } from "@hono/zod-validator";
import type { MiddlewareHandler } from "hono";
import type * as z from "zod";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Failure, FieldProblem } from "../failures.ts";
import { NO_BODY, type ParsedBody, readBody, readForm } from "./body.ts";
import type { AppContext, AppEnv } from "./context.ts";
import type { Incoming } from "./incoming.ts";
import type { RouteSpec } from "./route.ts";

type Query = Readonly<Record<string, string>>;
export type ValidRequest = Result<{ readonly body: unknown; readonly query: unknown }, Failure>;

interface Read {
  readonly parsed: Result<Pick<ParsedBody, "json" | "bytes">, Failure>;
  readonly query: Query;
  /** Validates query and body. */
  readonly request: () => Promise<ValidRequest>;
}

/** A request in this route's format, translated from the request that was sent. */
export interface TranslatedRequest {
  readonly said: Pick<Incoming, "path" | "params" | "header">;
  readonly query: Query;
  /** The body, read by `readBody` and then translated, or the problem with it, which is only reported to an authenticated caller. */
  readonly parsed: Read["parsed"];
}

export async function readSent(c: AppContext, spec: RouteSpec): Promise<Read> {
  const parsed = await bodyOf(c, spec);
  return { parsed, query: c.req.query(), request: () => requestOf(c, spec, parsed) };
}

export function readTranslated(spec: RouteSpec, { query, parsed }: TranslatedRequest): Read {
  return { parsed, query, request: async () => (parsed.ok ? valuesOf(spec, query, parsed.value.json) : parsed) };
}

export function valuesOf(spec: RouteSpec, query: Query, json: Json | undefined): ValidRequest {
  return bothOf(validate(spec.query(), query), validate(spec.body(), json));
}

/** Reads the body first, because the route's reads use it. A problem with it is only reported after the caller has passed the earlier steps. */
async function bodyOf(c: AppContext, spec: RouteSpec): Promise<Result<ParsedBody, Failure>> {
  if (!spec.isPage) return readBody(c.req.raw);
  return spec.method === "GET" ? ok(NO_BODY) : readForm(c.req.raw);
}

async function requestOf(c: AppContext, spec: RouteSpec, parsed: Result<ParsedBody, Failure>): Promise<ValidRequest> {
  if (!parsed.ok) return parsed;
  const { json, text } = parsed.value;
  const query = await validateQuery(c, spec.query());
  if (!query.ok) return query;
  const isHandedOn = text !== undefined && spec.method !== "GET";
  const body = isHandedOn
    ? await validateBody(c, spec.isPage ? "form" : "json", spec.body(), text)
    : validate(spec.body(), json);
  return bothOf(query, body);
}

function bothOf(query: Result<unknown, Failure>, body: Result<unknown, Failure>): ValidRequest {
  if (!query.ok) return query;
  return body.ok ? ok({ body: body.value, query: query.value }) : body;
}

/** The parsed value, or the failure VALIDATION_FAILED. */
type Verdict<T = unknown> = Result<T, Failure>;

/** Parses the query. If a name occurs twice, its first value counts. */
export function validateQuery(c: AppContext, schema: z.ZodType): Promise<Verdict> {
  return verdictOf(c, "query", schema, (query) => oneOfEach(query, 0));
}

/** Parses the body, which is already read. If a form has a name twice, its last value counts. */
export function validateBody(
  c: AppContext,
  target: "json" | "form",
  schema: z.ZodType,
  text: string,
): Promise<Verdict> {
  // Hono stores promises here, although its type declares plain texts.
  Object.assign(c.req.bodyCache, { text: Promise.resolve(text) });
  return verdictOf(c, target, schema, target === "form" ? (form) => oneOfEach(form, -1) : (json) => json);
}

/** Parses a value outside the validator: an absent body, or the body of a GET, from which no `Request` can be built. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): Verdict<T> {
  return verdict(parse(schema, value));
}

/** Many serializers write null for an absent member. If the schema refuses that null, it counts as absent; if null has a meaning, it is kept. */
function parse<T>(schema: z.ZodType<T>, value: unknown): z.ZodSafeParseResult<T> {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed;
  // The path of an item in a list ends with a number.
  const nulls = parsed.error.issues.filter(({ input, path }) => input === null && typeof path.at(-1) === "string");
  if (nulls.length === 0) return parsed;
  const rest = structuredClone(value);
  for (const { path } of nulls) {
    const member = path.slice(0, -1).reduce((node, name) => Object(node)[name], rest);
    Reflect.deleteProperty(Object(member), path.at(-1) ?? "");
  }
  return schema.safeParse(rest);
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
    { validationFunction: (_, value) => parse(schema, given(value)) },
  );
  // The hook's response and `next` are ignored, because the pipeline responds.
  await check(c, async () => {});
  return promise;
}

type Parsed<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: z.core.$ZodError };

/** Each problem has the path of its field. Schemas of bodies refuse unknown fields (`strictObject`), so that a typo is not silently ignored. */
function verdict<T>(parsed: Parsed<T>): Verdict<T> {
  if (parsed.success) return ok(parsed.data);
  return err({ code: "VALIDATION_FAILED", details: parsed.error.issues.flatMap(problemsOf) });
}

/** Keeps one value for each name; the validator turns repeated names into lists. */
function oneOfEach(values: object, which: 0 | -1): object {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.at(which) : value]),
  );
}

/** Each unknown field becomes a problem with its own path. */
function problemsOf(issue: z.core.$ZodIssue): readonly FieldProblem[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key].join("."), message: "unknown field" }));
  }
  return [{ path: path.join("."), message: isAbsent(issue) ? absentMessage(path) : issue.message }];
}

/** Zod's message for an absent value says that it received `undefined`, which JSON does not have. */
function isAbsent(issue: z.core.$ZodIssue): boolean {
  return issue.code === "invalid_type" && issue.message.endsWith("received undefined");
}

function absentMessage(path: readonly string[]): string {
  return path.length === 0 ? "a JSON body is required" : "is required";
}
