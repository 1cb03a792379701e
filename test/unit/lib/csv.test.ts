import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csvRecord } from "../../../src/lib/csv.ts";

/** Whatever a spreadsheet may skip in front of a formula: spaces of every kind, control characters, marks without a width. */
const SKIPPED = [
  "",
  " ",
  "  ",
  "\u00a0",
  "\u3000",
  "\u2003",
  "\ufeff",
  "\u200b",
  "\u200e",
  "\u0000",
  "\t",
  "\r",
  "\n",
  "\v",
];
const SIGNS = [
  "=",
  "+",
  "-",
  "@",
  "\uff1d",
  "\uff0b",
  "\uff0d",
  "\uff20",
  "\u2212",
  "\ufe62",
  "\ufe63",
  "\ufe66",
  "\ufe6b",
];

/** The text that the record's only field has, as a spreadsheet reads it. */
function readBack(text: string): string {
  const record = csvRecord([text]);
  expect(record.endsWith("\r\n")).toBe(true);
  const field = record.slice(0, -2);
  return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
}

describe("a cell", () => {
  test.each(SIGNS.flatMap((sign) => SKIPPED.map((skipped) => [skipped, sign] as const)))(
    "that begins with %j and %j is a text with an apostrophe in front",
    (skipped, sign) => {
      const text = `${skipped}${sign}cmd|' /C calc'!A0`;
      expect(readBack(text)).toBe(`'${text}`);
    },
  );

  test("never begins as a formula, and is otherwise as it was", () => {
    const parts = fc.oneof(fc.constantFrom(...SIGNS, ...SKIPPED), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 6 }), (given) => {
        const text = given.join("");
        const read = readBack(text);
        expect([text, `'${text}`]).toContain(read);
        const bare = read.normalize("NFKC").replace(/^[\s\p{Cc}\p{Cf}\p{Z}]+/u, "");
        expect(/^[=+\-@\u2212]/u.test(bare)).toBe(false);
      }),
    );
  });

  test.each(["Ann", "a=b", "1.50", " Ann", "\u3000Ann", "1 - 2", ""])("of %j stays as it is", (text) => {
    expect(readBack(text)).toBe(text);
  });

  test("that is a number has no apostrophe, even below zero", () => {
    expect(csvRecord([-1.5, 2])).toBe("-1.5,2\r\n");
  });
});
