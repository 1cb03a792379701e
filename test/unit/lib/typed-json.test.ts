import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type JsonOf, parseJson, printJson } from "../../../src/lib/typed-json.ts";

describe("typed JSON", () => {
  it("is the text that JSON.stringify writes, and can be parsed to the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = printJson(value);
        expect(json).toBe(JSON.stringify(value));
        expect(printJson(parseJson(json))).toBe(json);
      }),
    );
  });

  it("has the type that its column declares, and is not assignable to JSON of another type", () => {
    const names: JsonOf<readonly string[]> = '["a"]';
    expectTypeOf(parseJson(names)).toEqualTypeOf<readonly string[]>();
    expectTypeOf<JsonOf<readonly number[]>>().not.toExtend<JsonOf<readonly string[]>>();
    expectTypeOf<string>().toExtend<JsonOf<readonly string[]>>();
    expect(parseJson(names)).toEqual(["a"]);
  });
});
