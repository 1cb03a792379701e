// Converts Zod schemas to JSON Schema for the OpenAPI document. A schema with a title is written once, under that name, and referenced elsewhere.
import * as z from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;
/** The schemas under `#/components/schemas`; `jsonSchema` adds to it. */
export type NamedSchemas = Record<string, JsonSchema>;

/** The prefix of references to named schemas. */
export const NAMED_SCHEMAS = "#/components/schemas/";

/** `input`: a request; `output`: a response. Adds every schema with a title, the outermost included, to `named`. */
export function jsonSchema(schema: z.ZodType, io: "input" | "output", named: NamedSchemas): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any", override: forgetSafeRange });
  return Object(withReferences(json, named));
}

/** Removes the safe-integer bounds that Zod adds: they belong to JavaScript, not to the interface. */
function forgetSafeRange({ jsonSchema: json }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
}

function withReferences(node: unknown, named: NamedSchemas): unknown {
  if (Array.isArray(node)) return node.map((each) => withReferences(each, named));
  if (typeof node !== "object" || node === null) return node;
  // A member that never exists is not documented: `z.never()` is `{ not: {} }`.
  const parts = Object.entries(node).filter(([, value]) => !(value instanceof Object && "not" in value));
  const whole: JsonSchema = Object.fromEntries(parts.map(([key, value]) => [key, withReferences(value, named)]));
  // A property named `title` is a schema, not a string.
  if (typeof whole.title !== "string") return whole;
  named[whole.title] = whole;
  return { $ref: `${NAMED_SCHEMAS}${whole.title}` };
}
