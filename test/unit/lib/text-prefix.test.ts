import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prefixEnd } from "../../../src/lib/text-prefix.ts";
import { RUNS } from "../../support/property-runs.ts";

/** The order of SQLite's BINARY collation, by bytes of UTF-8. */
const isLess = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;

describe("the end of a prefix's range", () => {
  it.each([
    ["a", "b"],
    ["Coffee", "Coffef"],
    ["z", "{"],
    ["\u{d7ff}", "\u{e000}"],
    ["\u{ffff}", "\u{10000}"],
    ["a\u{10ffff}", "b"],
    ["a\u{10ffff}\u{10ffff}", "b"],
  ])("for the prefix %j is %j", (prefix, end) => {
    expect(prefixEnd(prefix)).toBe(end);
  });

  it("does not exist when every greater text has the same prefix", () => {
    expect(["", "\u{10ffff}", "\u{10ffff}\u{10ffff}"].map(prefixEnd)).toEqual([undefined, undefined, undefined]);
  });

  it("limits the range to exactly the texts that begin with the prefix", () => {
    const unit = fc.oneof(fc.constantFrom("a", "b", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10ffff}"), fc.string());
    const text = fc.array(unit, { maxLength: 4 }).map((units) => units.join("").toWellFormed());
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        for (const each of [other, prefix + other]) {
          const end = prefixEnd(prefix);
          const isInRange = !isLess(each, prefix) && (end === undefined || isLess(each, end));
          expect(isInRange).toBe(each.startsWith(prefix));
        }
      }),
      { numRuns: RUNS },
    );
  });
});
