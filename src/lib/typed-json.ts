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
