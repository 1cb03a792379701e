import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  gapLimitFor,
  recoveryFormat,
  recoveryHead,
  recoveryRows,
  recoveryTail,
} from "../../../../src/commerce/wallets/recovery-file.ts";
import { csvRecord } from "../../../../src/lib/csv.ts";
import { RUNS } from "../../../support/property-runs.ts";

const SUMMARY = { descriptor: "wpkh(xpub6/0/*)#checksum", nextIndex: 2, gapLimit: 22 };
const rowOf = (index: number) => ({
  index,
  address: index % 2 === 0 ? `bc1q${index}` : null,
  path: `m/84'/0'/0'/0/${index}`,
  invoiceId: `inv_${index}`,
  createdAt: "2026-11-21T12:00:00.000Z",
});

/** The exported text of all rows, read in pages of the given sizes. */
function exported(format: "json" | "csv", pageSizes: readonly number[]): string {
  let text = recoveryHead(format, SUMMARY);
  let next = 0;
  for (const size of pageSizes) {
    const rows = Array.from({ length: size }, (_, at) => rowOf(next + at));
    text += recoveryRows(format, rows, next === 0);
    next += size;
  }
  return text + recoveryTail(format);
}

/** Parses by the grammar of RFC 4180. */
function readCsv(text: string): string[][] {
  const records: string[][] = [[]];
  const token = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    records.at(-1)?.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === "\r\n") records.push([]);
    if (token.lastIndex === text.length) break;
  }
  return records.slice(0, -1);
}

describe("the recovery export as JSON", () => {
  it("is one valid document, no matter how its rows were divided into pages", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(4), { maxLength: 6 }), (pageSizes) => {
        const count = pageSizes.reduce((sum, size) => sum + size, 0);
        const whole = { ...SUMMARY, addresses: Array.from({ length: count }, (_, index) => rowOf(index)) };
        expect(JSON.parse(exported("json", pageSizes))).toEqual(whole);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the recovery export as CSV", () => {
  it("has a header, a record for the wallet and one for each address, all with eight fields", () => {
    const records = readCsv(exported("csv", [1, 0, 2]));
    expect(records).toEqual([
      ["index", "address", "path", "invoiceId", "createdAt", "descriptor", "nextIndex", "gapLimit"],
      ["", "", "", "", "", SUMMARY.descriptor, "2", "22"],
      ["0", "bc1q0", "m/84'/0'/0'/0/0", "inv_0", "2026-11-21T12:00:00.000Z", "", "", ""],
      ["1", "", "m/84'/0'/0'/0/1", "inv_1", "2026-11-21T12:00:00.000Z", "", "", ""],
      ["2", "bc1q2", "m/84'/0'/0'/0/2", "inv_2", "2026-11-21T12:00:00.000Z", "", "", ""],
    ]);
  });

  it.each([
    ["plain", "plain"],
    ["a,b", '"a,b"'],
    ['say "a"', '"say ""a"""'],
    ["two\r\nlines", '"two\r\nlines"'],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "'\t'=1"],
    ["\r=1", "\"'\r'=1\""],
    ['=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"'],
    ["", ""],
  ])("writes %j as %j", (field, written) => {
    expect(csvRecord([field])).toBe(`${written}\r\n`);
  });

  it("can be read back unchanged, except for an apostrophe before text that a spreadsheet would run", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 8 }), (fields) => {
        const expected = fields.map((field) => field.replaceAll(/(^|;)(?=[\s"]*[=+\-@])/g, "$1'"));
        const [read] = readCsv(csvRecord(fields));
        expect(read).toEqual(expected);
        expect(read?.some((field) => /^([\t\r\n]|\s*[=+\-@])/.test(field))).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the format of a recovery export", () => {
  it.each([
    [undefined, undefined, "json"],
    [undefined, "*/*", "json"],
    [undefined, "application/json", "json"],
    [undefined, "text/csv", "csv"],
    [undefined, "TEXT/CSV;q=0.9, */*", "csv"],
    ["json", "text/csv", "json"],
    ["csv", "application/json", "csv"],
  ] as const)("requested as %s with Accept %s is %s", (asked, accept, format) => {
    expect(recoveryFormat(asked, accept)).toBe(format);
  });
});

it("the gap limit is twenty more than the longest run of addresses without payments", () => {
  expect([0, 1, 20, 5_000].map(gapLimitFor)).toEqual([20, 21, 40, 5_020]);
});
