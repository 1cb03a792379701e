import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csvRecord } from "../../../src/lib/csv.ts";

/** Characters that a spreadsheet may skip before a formula: spaces of every kind, control characters, zero-width marks. */
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

/** The text of the record's only field, as a spreadsheet reads it. */
function readBack(text: string): string {
  const record = csvRecord([text]);
  expect(record.endsWith("\r\n")).toBe(true);
  const field = record.slice(0, -2);
  return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
}

describe("a cell", () => {
  test.each(SIGNS.flatMap((sign) => SKIPPED.map((skipped) => [skipped, sign] as const)))(
    "that begins with %j and %j gets an apostrophe in front",
    (skipped, sign) => {
      const formula = `${sign}cmd|' /C calc'!A0`;
      // If a program ignores quotation marks, a new cell begins after a tab or a line break.
      const between = /[\t\r\n]/.test(skipped) ? "'" : "";
      expect(readBack(skipped + formula)).toBe(`'${skipped}${between}${formula}`);
    },
  );

  test("never begins like a formula, and is otherwise unchanged", () => {
    const parts = fc.oneof(fc.constantFrom(...SIGNS, ...SKIPPED), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 6 }), (given) => {
        const text = given.join("");
        const read = readBack(text);
        expect(read.replaceAll("'", "")).toBe(text.replaceAll("'", ""));
        const bare = read.normalize("NFKC").replace(/^[\s\p{Cc}\p{Cf}\p{Z}]+/u, "");
        expect(/^[=+\-@\u2212]/u.test(bare)).toBe(false);
      }),
    );
  });

  test.each(["Ann", "a=b", "1.50", " Ann", "\u3000Ann", "1 - 2", ""])("of %j is unchanged", (text) => {
    expect(readBack(text)).toBe(text);
  });

  test("that is a number has no apostrophe, even if negative", () => {
    expect(csvRecord([-1.5, 2])).toBe("-1.5,2\r\n");
  });

  /**
   * The cells of a file, as a program with one separator reads them. A quotation mark has a meaning only at the start of a cell, and two of them
   * inside the cell stand for one.
   */
  function cellsOf(file: string, separator: string): readonly string[] {
    const cells = [""];
    let isQuoted = false;
    for (let at = 0; at < file.length; at++) {
      const [cell = "", sign = ""] = [cells.at(-1), file[at]];
      if (isQuoted && sign === '"' && file[at + 1] === '"') cells[cells.length - 1] = cell + file[at++];
      else if (isQuoted && sign === '"') isQuoted = false;
      else if (!isQuoted && sign === '"' && cell === "") isQuoted = true;
      else if (!isQuoted && (sign === separator || sign === "\r" || sign === "\n")) cells.push("");
      else cells[cells.length - 1] = cell + sign;
    }
    return cells;
  }

  test.each([
    ["x;=HYPERLINK(A1)", "x;'=HYPERLINK(A1)\r\n"],
    ["x; -1;@A", "x;' -1;'@A\r\n"],
    ["x\t+1", "x\t'+1\r\n"],
    ["x\n=1", '"x\n\'=1"\r\n'],
    ["a;b", "a;b\r\n"],
  ])("with %j has an apostrophe wherever a spreadsheet in another country would begin a formula", (text, record) => {
    expect(csvRecord([text])).toBe(record);
  });

  test.each([",", ";", "\t"])("never begins like a formula in a program whose separator is %j", (separator) => {
    const parts = fc.oneof(
      fc.constantFrom(...SIGNS, ...SKIPPED, ";", ",", '"', "a"),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    const fields = fc.array(
      fc.array(parts, { maxLength: 8 }).map((of) => of.join("")),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(fields, (given) => {
        for (const cell of cellsOf(csvRecord(given), separator)) {
          expect(/^[\s\p{C}\p{Z}]*[=+\-@\u2212]/u.test(cell.normalize("NFKC"))).toBe(false);
        }
      }),
    );
  });
});
