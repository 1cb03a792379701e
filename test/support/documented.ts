import { expect } from "vitest";
import type * as z from "zod";
import { jsonSchema, type NamedSchemas } from "../../src/platform/http/json-schema.ts";
import { misfits } from "./json-schema.ts";

/** Holds a live answer to the schema that documents it: every member, and no other. */
export function expectDocumented(schema: () => z.ZodType, json: unknown): void {
  const schemas: NamedSchemas = {};
  const whole = jsonSchema(schema(), "output", schemas);
  expect(json).toBeDefined();
  expect(misfits({ components: { schemas } }, whole, json)).toEqual([]);
}
