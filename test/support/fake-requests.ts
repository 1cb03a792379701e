// All fields that the client's fake accepts in a request, for tests that send each field.
import { BODIES, QUERIES } from "../../client/testing/requests.ts";
import { jsonSchema } from "../../src/platform/http/json-schema.ts";

/** By operationId: the fields by name, with their JSON Schema type if it is a single one. */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, { readonly type?: string }>>>> =
  Object.fromEntries(
    Object.entries({ ...BODIES, ...QUERIES }).map(([name, schema]) => [
      name,
      Object(jsonSchema(schema(), "input", {}).properties),
    ]),
  );
