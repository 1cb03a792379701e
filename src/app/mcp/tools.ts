// The tools of the Model Context Protocol: each is a route of the API that an API key may call, with the route's own declaration.
import { type JsonSchema, jsonSchema, NAMED_SCHEMAS, type NamedSchemas } from "../../platform/http/json-schema.ts";
import type { RouteSpec, Tag } from "../../platform/http/route.ts";

export interface Tool {
  /** The operation's id in snake case: `create_invoice`. */
  readonly name: string;
  readonly spec: RouteSpec;
  /** JSON Schema 2020-12 of an object: the members of path, query and body together. */
  readonly input: JsonSchema;
  /** Where each argument belongs. */
  readonly places: ReadonlyMap<string, "path" | "query" | "body" | "idempotencyKey">;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** What an assistant of a merchant works with. Keys, endpoints and the team are left to people. */
const CHAPTERS: readonly Tag[] = ["Invoices", "Payments", "Products", "Customers", "Wallets", "Reports", "Search"];

/** The merchant is the key's. */
const GIVEN = "merchantId";

const IDEMPOTENCY_KEY = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description:
    "Choose one for each thing that you create, and send it again with the same arguments to repeat a call safely.",
} as const;

/** Without routes that ask a person for a factor, and without exports, which are too long for an answer. */
export function toolsOf(specs: readonly RouteSpec[]): readonly Tool[] {
  return specs
    .filter(({ callers, tag, needsStepUp }) => callers === "MEMBER_OR_KEY" && CHAPTERS.includes(tag) && !needsStepUp)
    .filter(({ answers }) =>
      answers.every(({ lineSchema, alsoAs }) => lineSchema === undefined && alsoAs === undefined),
    )
    .map(toolOf);
}

function toolOf(spec: RouteSpec): Tool {
  const inPath = [...spec.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name).filter((name) => name !== GIVEN);
  const named: NamedSchemas = {};
  const query = objectIn(jsonSchema(spec.query(), "input", named), named);
  const body = objectIn(jsonSchema(spec.body(), "input", named), named);
  const properties = {
    ...Object.fromEntries(inPath.map((name) => [name, { type: "string", description: "Its `id`." }])),
    ...query.properties,
    ...body.properties,
    ...(spec.isIdempotent ? { idempotencyKey: IDEMPOTENCY_KEY } : {}),
  };
  const places = [
    ...inPath.map((name) => [name, "path"] as const),
    ...Object.keys(query.properties).map((name) => [name, "query"] as const),
    ...Object.keys(body.properties).map((name) => [name, "body"] as const),
    ...(spec.isIdempotent ? [["idempotencyKey", "idempotencyKey"] as const] : []),
  ];
  if (new Set(places.map(([name]) => name)).size !== places.length)
    throw new Error(`${spec.operationId} has an argument in two places`);
  const required = [...inPath, ...query.required, ...body.required];
  const input = {
    type: "object",
    properties,
    required,
    additionalProperties: false,
    ...definitionsOf(properties, named),
  };
  return { name: snakeCased(spec.operationId), spec, input: JSON.parse(localText(input)), places: new Map(places) };
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
}

/** The members of an object's schema, behind a reference or not; none for a route without a body. */
function objectIn(schema: JsonSchema, named: NamedSchemas): ObjectSchema {
  const target = typeof schema.$ref === "string" ? named[schema.$ref.slice(NAMED_SCHEMAS.length)] : schema;
  if (target === undefined) throw new Error(`${String(schema.$ref)} is not defined`);
  const { properties = {}, required = [] }: Partial<ObjectSchema> = Object(target);
  return { properties, required };
}

/** The named schemas that are referred to, by each other, too. */
function definitionsOf(properties: object, named: NamedSchemas): object {
  const found: Record<string, JsonSchema> = {};
  const search = (node: object): void => {
    for (const [, name = ""] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const schema = named[name];
      if (schema === undefined || name in found) continue;
      found[name] = schema;
      search(schema);
    }
  };
  search(properties);
  return Object.keys(found).length === 0 ? {} : { $defs: found };
}

const localText = (schema: object): string => JSON.stringify(schema).replaceAll(`"${NAMED_SCHEMAS}`, '"#/$defs/');

const snakeCased = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Names of arguments that the tool does not have. */
export function unknownArguments(tool: Tool, given: Arguments): readonly string[] {
  return Object.keys(given).filter((name) => !tool.places.has(name));
}

export interface ToolRequest {
  /** With its query. */
  readonly path: string;
  readonly method: RouteSpec["method"];
  readonly body: Arguments | undefined;
  readonly idempotencyKey: string | undefined;
}

/** The call of the API that a tool's call is. `idempotencyKey` is of this call, where the caller gave none. */
export function requestOf(
  tool: Tool,
  given: Arguments,
  of: { readonly merchantId: string; readonly newKey: () => string },
): ToolRequest {
  const { path, method, isIdempotent } = tool.spec;
  const placed = (place: string) =>
    Object.entries(given).filter(([name, value]) => tool.places.get(name) === place && value !== undefined);
  const inPath = new Map(placed("path").map(([name, value]) => [name, String(value)]));
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(name === GIVEN ? of.merchantId : (inPath.get(name) ?? "")),
  );
  const query = new URLSearchParams(placed("query").map(([name, value]) => [name, String(value)]));
  const { idempotencyKey = of.newKey() } = given;
  return {
    path: query.size === 0 ? filled : `${filled}?${query}`,
    method,
    body: method === "GET" || method === "DELETE" ? undefined : Object.fromEntries(placed("body")),
    idempotencyKey: isIdempotent ? String(idempotencyKey) : undefined,
  };
}
