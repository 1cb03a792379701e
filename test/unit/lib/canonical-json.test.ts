import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, type Json } from "../../../src/lib/typed-json.ts";
import { RUNS } from "../../support/property-runs.ts";

const json: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 5, noUnicodeString: false }).map((value) => {
  const parsed: Json = JSON.parse(JSON.stringify(value));
  return parsed;
});

describe("canonical JSON", () => {
  it("writes the sample object as RFC 8785 sections 3.2.2 to 3.2.4 do", () => {
    const input = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalJson(JSON.parse(input))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it("sorts keys by UTF-16 code units, as in the sample of RFC 8785 section 3.2.3", () => {
    const input = String.raw`{
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
    }`;
    expect(Object.values(JSON.parse(canonicalJson(JSON.parse(input))))).toHaveLength(7);
    expect(
      canonicalJson(JSON.parse(input))
        .match(/:"[^"]+"/g)
        ?.map((each) => each.slice(2, -1)),
    ).toEqual([
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
  });

  // RFC 8785 appendix B, "Number Serialization Samples": IEEE 754 bits to text.
  const numbers: readonly [string, string][] = [
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ];
  it.each(numbers)("writes the number %s as %s", (bits, text) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    expect(canonicalJson(view.getFloat64(0))).toBe(text);
  });

  it("parses to the same value again, whose canonical form is the same text", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(withoutNegativeZero(value));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
      { numRuns: RUNS },
    );
  });

  it("does not depend on the order of keys, at any depth", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(withKeysReversed(value))).toBe(canonicalJson(value));
      }),
      { numRuns: RUNS },
    );
  });

  it("does not depend on white space or on how a number is written", () => {
    const spellings = ['{"a":10,"b":[1.5]}', '{ "b" : [ 15e-1 ] ,\n "a" : 1e1 }', '{"b":[1.50],"a":10.0}'];
    expect(new Set(spellings.map((text) => canonicalJson(JSON.parse(text)))).size).toBe(1);
  });

  it("is the same text for two values if and only if they are equal", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(canonicalJson(a) === canonicalJson(b)).toBe(isSame(withoutNegativeZero(a), withoutNegativeZero(b)));
      }),
      { numRuns: RUNS },
    );
    const near = ['{"a":1}', '{"a":"1"}', "[1]", "1", '{"a":[1]}', '{"a":null}', "{}", "[]", '{"a":{}}', "[[]]"];
    expect(new Set(near.map((text) => canonicalJson(JSON.parse(text)))).size).toBe(near.length);
  });

  it("keeps a key named __proto__", () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}');
  });
});

/** JSON does not distinguish -0 from 0. */
function withoutNegativeZero(value: Json): Json {
  return JSON.parse(JSON.stringify(value));
}

function withKeysReversed(value: Json): Json {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(withKeysReversed);
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, withKeysReversed(member)] as const)
      .reverse(),
  );
}

function isSame(a: Json, b: Json): boolean {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [one, other] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return (
    one.size === other.size &&
    [...one].every(([key, value]) => {
      const match = other.get(key);
      return match !== undefined && isSame(value, match);
    })
  );
}
