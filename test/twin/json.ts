// Parses JSON from outside the twin's own code and checks its shape, so that a wrong shape fails on reading and not on use.
import type * as z from "zod";

/** Throws if the text is not JSON, or does not match the schema. */
export function jsonIn<S extends z.ZodType>(schema: S, text: string | Buffer): z.output<S> {
  return schema.parse(JSON.parse(text.toString()));
}
