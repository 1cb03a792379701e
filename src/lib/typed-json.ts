// JSON text with the type of its content. Columns hold text, because some of it is compared, signed or copied byte for byte, and most code that
// reads a row does not need it parsed.

declare const content: unique symbol;

/** The JSON text of a `T`. Any string is assignable to it; the declaration of a column or query must name the right type. */
export type JsonOf<T> = string & { readonly [content]?: T };

export function printJson<T>(value: T): JsonOf<T> {
  return JSON.stringify(value);
}

/** Throws if the text is not JSON. Only for our own JSON, because its structure is not checked. */
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

/** Parses a JSON object; undefined for any other text. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
