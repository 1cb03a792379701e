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
