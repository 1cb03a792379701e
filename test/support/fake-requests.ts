// The fields of every request that the client's fake takes, for tests that send each of them.
import { BODIES, QUERIES } from "../../client/testing/requests.ts";
import { jsonSchema } from "../../src/platform/http/json-schema.ts";

/** By operationId: the fields by name, with their type in JSON Schema where there is one type. */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, { readonly type?: string }>>>> =
  Object.fromEntries(
    Object.entries({ ...BODIES, ...QUERIES }).map(([name, schema]) => [
      name,
      Object(jsonSchema(schema(), "input", {}).properties),
    ]),
  );
