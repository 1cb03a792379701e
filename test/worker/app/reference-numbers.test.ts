// The types of query parameters in the reference must match how their text is parsed.
import { expect, test } from "vitest";
import { SPECS } from "../../../src/app/app.ts";
import { validate } from "../../../src/platform/http/validate.ts";
import { document, operationOf, useDocument } from "./reference-harness.ts";

useDocument();

/** A value for each required query parameter. */
const NEEDED: Readonly<Record<string, string>> = { from: "2026-01-01", to: "2026-01-02", month: "2026-01", q: "a" };

type Asked = ReturnType<typeof parameters>[number];

/** The value that the route parses from a parameter's text; undefined if it refuses the text. */
function readAs({ query, name, others }: Asked, text: string): string | undefined {
  const parsed = validate(query, { ...others, [name]: text });
  return parsed.ok && Object.hasOwn(Object(parsed.value), name) ? typeof Object(parsed.value)[name] : undefined;
}

const parameters = () =>
  SPECS.flatMap((spec) => {
    const asked = operationOf(spec).parameters.filter((each) => each.in === "query");
    const others = Object.fromEntries(asked.flatMap(({ name, required }) => (required ? [[name, NEEDED[name]]] : [])));
    return asked.map(({ name, schema }) => {
      return { at: `${spec.operationId} ${name}`, name, schema, query: spec.query(), others };
    });
  });

test("a query parameter is documented as an integer or a boolean if and only if it is parsed as one", () => {
  const dates = new Set(["date", "date-time"]);
  const asked = parameters().filter(({ schema }) => !dates.has(String(schema.format)));
  const numbers = asked.filter((each) => readAs(each, "1") === "number");
  const flags = asked.filter((each) => readAs(each, "true") === "boolean");
  expect(asked.filter(({ schema }) => schema.type === "integer").map(({ at }) => at)).toEqual(
    numbers.map(({ at }) => at),
  );
  expect(asked.filter(({ schema }) => schema.type === "boolean").map(({ at }) => at)).toEqual(
    flags.map(({ at }) => at),
  );
  expect(numbers.length).toBeGreaterThan(20);
  expect(flags.length).toBeGreaterThan(2);
});

test("an integer's documented bounds equal the enforced bounds", () => {
  for (const each of parameters()) {
    const { at, schema } = each;
    if (schema.type !== "integer") continue;
    const { minimum, maximum } = schema as { minimum: number; maximum: number };
    const read = (value: number) => readAs(each, String(value));
    expect([at, ...[minimum - 1, minimum, maximum, maximum + 1].map(read)]).toEqual([
      at,
      undefined,
      "number",
      "number",
      undefined,
    ]);
    for (const text of ["1.5", "1e1", " 1", "", "x"]) expect([at, readAs(each, text)]).toEqual([at, undefined]);
  }
});

/** Names of numbers that may have fractions. */
const FRACTIONS = /(amount|price|percent|rate|max|progress)/i;

test("every documented number is an integer, unless it may have a fraction", () => {
  const found: string[] = [];
  const search = (node: unknown, name: string): void => {
    if (typeof node !== "object" || node === null) return;
    const { type } = node as { readonly type?: unknown };
    if ([type].flat().includes("number")) found.push(name);
    for (const [key, value] of Object.entries(node))
      search(value, ["anyOf", "additionalProperties"].includes(key) || /^\d+$/.test(key) ? name : key);
  };
  search(document, "");
  // The audit log's values before and after a change may be any number.
  const unsure = found.filter((name) => !FRACTIONS.test(name) && !["before", "after"].includes(name));
  expect(unsure).toEqual([]);
  expect(found.length).toBeGreaterThan(5);
});
