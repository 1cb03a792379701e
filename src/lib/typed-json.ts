// JSON that stays text, with the type of what is in it. Columns keep it so because some of it is compared, signed or copied byte for byte, and
// most code that reads a row does not need it parsed.

declare const content: unique symbol;

/** The JSON of a `T`. Any text can be given as one: who declares a column or a query says what its JSON holds. */
export type JsonOf<T> = string & { readonly [content]?: T };

export function printJson<T>(value: T): JsonOf<T> {
  return JSON.stringify(value);
}

/** Throws for text that is no JSON. Only for JSON of our own: nothing checks that it has the shape of a `T`. */
export function parseJson<T>(json: JsonOf<T>): T {
  return JSON.parse(json);
}

/** A parsed JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Canonical text of a parsed JSON value: keys sorted by UTF-16 code units, no white space, numbers in their shortest form
 * (RFC 8785). Two bodies that mean the same give the same text, whatever their key order or number spelling.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(",")}}`;
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
