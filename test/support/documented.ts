import { expect } from "vitest";
import type * as z from "zod";
import { jsonSchema, type NamedSchemas } from "../../src/platform/http/json-schema.ts";
import { misfits } from "./json-schema.ts";

/** Checks a live response against its documented schema: every member must be present, and no others. */
export function expectDocumented(schema: () => z.ZodType, json: unknown): void {
  const schemas: NamedSchemas = {};
  const whole = jsonSchema(schema(), "output", schemas);
  expect(json).toBeDefined();
  expect(misfits({ components: { schemas } }, whole, json)).toEqual([]);
}
