// JSON from outside the twin's own code, as values of a known shape: another shape is an error where it is read, not where it is used.
import type * as z from "zod";

/** Throws if the text is not JSON, or does not match the schema. */
export function jsonIn<S extends z.ZodType>(schema: S, text: string | Buffer): z.output<S> {
  return schema.parse(JSON.parse(text.toString()));
}
