import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { equalDigests, lengthPrefixed, sha256Hex } from "../../../src/lib/bytes.ts";
import { RUNS } from "../../support/property-runs.ts";

describe("SHA-256 of text", () => {
  it("matches the example in FIPS 180-4, and Node's result for any text", () => {
    expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(sha256Hex(text)).toBe(createHash("sha256").update(text, "utf8").digest("hex"));
      }),
      { numRuns: RUNS },
    );
  });
});

describe("comparing digests", () => {
  it("returns true for equal digests, and false if one character differs at any position", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(63), (text, at) => {
        const digest = sha256Hex(text);
        const changed = `${digest.slice(0, at)}${digest[at] === "0" ? "1" : "0"}${digest.slice(at + 1)}`;
        expect(equalDigests(digest, `${digest}`)).toBe(true);
        expect(equalDigests(digest, changed)).toBe(false);
        expect(equalDigests(changed, digest)).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  it("returns false for a prefix, an empty text, a longer text and upper case", () => {
    const digest = sha256Hex("a");
    expect([digest.slice(0, 63), "", `${digest}0`, digest.toUpperCase()].map((of) => equalDigests(digest, of))).toEqual(
      [false, false, false, false],
    );
  });
});

describe("joining fields", () => {
  it("never gives the same text for two different lists", () => {
    const fields = fc.array(fc.string({ unit: fc.constantFrom("", "a", ":", "|", "1", "0", "2:", "€") }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        expect(lengthPrefixed(a) === lengthPrefixed(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    [
      ["ab", "c"],
      ["a", "bc"],
    ],
    [["a|1:b"], ["a", "b"]],
    [["", ""], [""]],
    [["1:a"], ["a"]],
  ])("distinguishes %j from %j", (a, b) => {
    expect(lengthPrefixed(a)).not.toBe(lengthPrefixed(b));
  });
});
