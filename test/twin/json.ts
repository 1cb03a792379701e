// JSON that came from outside the twin's own code, as values of a known shape: another shape is an error where it is read, and not where it is missed.
import type * as z from "zod";

/** Throws if the text is no JSON, or is not as the schema says. */
export function jsonIn<S extends z.ZodType>(schema: S, text: string | Buffer): z.output<S> {
  return schema.parse(JSON.parse(text.toString()));
}
