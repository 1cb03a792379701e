import { describe, expect, it } from "vitest";
import * as z from "zod";
import { validate } from "../../../../src/platform/http/body.ts";

const schema = z.strictObject({
  name: z.string().min(2),
  amount: z.number().optional(),
  customer: z.strictObject({ email: z.email() }).optional(),
});

describe("what a request lacks or has too much is named in words of JSON", () => {
  const cases: readonly [string, unknown, readonly (readonly [string, string])[]][] = [
    ["no body", undefined, [["", "a JSON body is required"]]],
    ["a missing field", {}, [["name", "is required"]]],
    ["a missing field of a field", { name: "ab", customer: {} }, [["customer.email", "is required"]]],
    ["an unknown field", { name: "ab", nmae: "x" }, [["nmae", "unknown field"]]],
    [
      "an unknown field of a field",
      { name: "ab", customer: { email: "a@b.cd", age: 1 } },
      [["customer.age", "unknown field"]],
    ],
  ];
  it.each(cases)("%s", (_, value, problems) => {
    const details = problems.map(([path, message]) => ({ path, message }));
    expect(validate(schema, value)).toEqual({ ok: false, error: { code: "VALIDATION_FAILED", details } });
  });

  it.each([
    ["a list", [], ""],
    ["null", null, ""],
    ["a number for a text", { name: 5 }, "name"],
    ["null for a number", { name: "ab", amount: null }, "amount"],
  ])("%s is not said to be absent", (_, value, path) => {
    const refused = validate(schema, value);
    expect(refused).toMatchObject({ error: { details: [{ path }] } });
    expect(JSON.stringify(refused)).not.toContain("required");
  });
});
