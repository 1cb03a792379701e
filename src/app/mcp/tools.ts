// Builds the tools of the Model Context Protocol: each is a route of the API that an API key may call, with the route's own declaration. Runs when
// the static assets are built, so that the Worker contains neither the schemas' texts nor their generator.
import { type JsonSchema, jsonSchema, NAMED_SCHEMAS, type NamedSchemas } from "../../platform/http/json-schema.ts";
import type { RouteSpec, Tag } from "../../platform/http/route.ts";
import { type ArgumentSlot, LIST, MERCHANT, type Tool } from "./tool.ts";
import { TOOL_TEXTS } from "./tool-texts.ts";

/** The chapters that an assistant may use. Keys, endpoints and the team are left to people. */
const CHAPTERS: readonly Tag[] = ["Invoices", "Payments", "Products", "Customers", "Wallets", "Reports", "Search"];

const IDEMPOTENCY_KEY = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description: "Choose a new key for each change. To repeat a call safely, send the same key with the same arguments.",
} as const;

/** Leaves out routes that require a factor, and exports, which are too long for an answer. */
export function toolsOf(specs: readonly RouteSpec[]): readonly Tool[] {
  return specs
    .filter(({ callers, tag, needsStepUp }) => callers === "MEMBER_OR_KEY" && CHAPTERS.includes(tag) && !needsStepUp)
    .filter(({ answers }) =>
      answers.every(({ lineSchema, alsoAs }) => lineSchema === undefined && alsoAs === undefined),
    )
    .map(toolOf);
}

function toolOf(spec: RouteSpec): Tool {
  const inPath = [...spec.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name).filter((name) => name !== MERCHANT);
  const named: NamedSchemas = {};
  const query = objectIn(jsonSchema(spec.query(), "input", named), named);
  const body = objectIn(jsonSchema(spec.body(), "input", named), named);
  const properties = {
    ...Object.fromEntries(inPath.map((name) => [name, { type: "string", description: "Its `id`." }])),
    ...query.properties,
    ...body.properties,
    ...(spec.isIdempotent ? { idempotencyKey: IDEMPOTENCY_KEY } : {}),
  };
  const places: readonly (readonly [string, ArgumentSlot])[] = [
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
  const description = TOOL_TEXTS[spec.operationId];
  if (description === undefined) throw new Error(`no text for the tool ${spec.operationId}`);
  return {
    name: snakeCased(spec.operationId),
    title: spec.summary,
    description,
    hints: hintsOf(spec),
    method: spec.method,
    path: spec.path,
    permissions: spec.permission?.split(" or ") ?? [],
    isIdempotent: spec.isIdempotent,
    input: JSON.parse(localText(input)),
    ...outputOf(spec),
    places: Object.fromEntries(places),
  };
}

/**
 * The schema of a call's answer as an object (`structuredOf`). A tool uses a secret key, so the forms for public keys are left out. Answers with
 * different statuses, such as those to a create and its repeat, have the same form.
 */
function outputOf({ operationId, answers }: RouteSpec): Pick<Tool, "output" | "isList"> {
  const named: NamedSchemas = {};
  const forms = answers.flatMap(({ schema }) => (schema === undefined ? [] : [jsonSchema(schema(), "output", named)]));
  const whole = [...new Set(forms.flatMap(formsOf).map((form) => JSON.stringify(form)))];
  const [text] = whole;
  if (text === undefined || whole.length > 1) throw new Error(`${operationId} has ${whole.length} forms of an answer`);
  const form = targetOf(JSON.parse(text), named);
  const isList = form.type === "array";
  const object = isList ? { type: "object", properties: { [LIST]: form }, required: [LIST] } : form;
  const { title: _, ...output } = object;
  return { output: JSON.parse(localText({ ...output, ...definitionsOf(output, named) })), isList };
}

function formsOf(form: JsonSchema): readonly JsonSchema[] {
  const forms: readonly JsonSchema[] = Array.isArray(form.anyOf) ? form.anyOf : [form];
  return forms.filter(({ $ref }) => !String($ref).startsWith(`${NAMED_SCHEMAS}Public`));
}

function hintsOf({ method, isIdempotent, operationId }: RouteSpec): Tool["hints"] {
  return {
    readOnlyHint: method === "GET",
    destructiveHint: method === "DELETE" || operationId.startsWith("cancel"),
    idempotentHint: method !== "POST" || isIdempotent,
    openWorldHint: false,
  };
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
}

/** The members of an object's schema, given inline or by reference; none for a route without a body. */
function objectIn(schema: JsonSchema, named: NamedSchemas): ObjectSchema {
  const { properties = {}, required = [] }: Partial<ObjectSchema> = Object(targetOf(schema, named));
  return { properties, required };
}

function targetOf(schema: JsonSchema, named: NamedSchemas): JsonSchema {
  const target = typeof schema.$ref === "string" ? named[schema.$ref.slice(NAMED_SCHEMAS.length)] : schema;
  if (target === undefined) throw new Error(`${String(schema.$ref)} is not defined`);
  return target;
}

/** The named schemas that are referred to, directly or through other schemas. */
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
