import { type IdPrefix, parseId } from "../../src/lib/ids.ts";

/** Checks the kind of an id received as text, for example in an answer; throws if it is of another kind. */
export function idIn<P extends IdPrefix>(prefix: P, text: unknown) {
  const id = typeof text === "string" ? parseId(prefix, text) : undefined;
  if (id === undefined) throw new Error(`${text} is no id with ${prefix}`);
  return id;
}
