// What the pipeline reads of a request: as it was sent, or as a translation of another API's request says it (commerce/greenfield).
import { ok, type Result } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Failure } from "../../platform/failures.ts";
import { NO_BODY, type ParsedBody, readBody, readForm } from "../../platform/http/body.ts";
import type { AppContext } from "../../platform/http/context.ts";
import type { Incoming } from "../../platform/http/incoming.ts";
import type { RouteSpec } from "../../platform/http/route.ts";
import { validate, validateBody, validateQuery } from "../../platform/http/validate.ts";

type Query = Readonly<Record<string, string>>;
export type ValidRequest = Result<{ readonly body: unknown; readonly query: unknown }, Failure>;

interface Read {
  readonly parsed: Result<Pick<ParsedBody, "json" | "bytes">, Failure>;
  readonly query: Query;
  /** Validates query and body. */
  readonly request: () => Promise<ValidRequest>;
}

/** A request in this route's words. Its sender has sent another. */
export interface TranslatedRequest {
  readonly said: Pick<Incoming, "path" | "params" | "header">;
  readonly query: Query;
  /** Read by `readBody` and translated since, or what is wrong with it: told to a caller who is proved, as everywhere. */
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
