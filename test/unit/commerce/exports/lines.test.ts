import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { headOf, textOf } from "../../../../src/commerce/exports/line-format.ts";
import { type ExportedPayment, rateOf } from "../../../../src/commerce/exports/payment-line.ts";
import { type Sums, sumsWith, totalLines } from "../../../../src/commerce/exports/statement.ts";
import { formatMicros } from "../../../../src/lib/money.ts";
import { RUNS } from "../../../support/property-runs.ts";

const PAYMENT: ExportedPayment = {
  id: "pay_01KAH7Y3V5M2T8Q4W6E0R9S1XZ",
  createdAtMs: 0,
  receivedAtMs: 0,
  confirmedAtMs: null,
  status: "CONFIRMED",
  invoiceId: "inv_01KAH7Y3V5M2T8Q4W6E0R9S1XZ",
  network: "ETH",
  cryptocurrency: "USDT",
  amountUnits: 1_000_000n,
  fiatMicros: 1_000_000n,
  weighedBy: "MARKET_RATE",
  weighedQuote: null,
  txHash: "0x1",
  outputIndex: "0",
  fromAddress: null,
  toAddress: "0x2",
  isLate: false,
  matchedBy: "ADDRESS",
  currency: "EUR",
  externalId: null,
  customerId: null,
};

/** CSV cells, read according to RFC 4180. */
function cellsIn(csv: string): readonly (readonly string[])[] {
  const records: string[][] = [[]];
  for (const [, quoted, plain = "", end = ""] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (end === "" && quoted === undefined && plain === "" && records.at(-1)?.length === 0) break;
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\r\n") records.push([]);
    if (end === "") break;
  }
  return records.filter((record) => record.length > 0);
}

describe("a line", () => {
  it("can be read back from CSV with all of its texts, and contains nothing that a spreadsheet reads as a formula", () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom("=1", "+1", "-1", "@a", " =1", "\uff1d1", "\t1", "\r1", "x;=1", '"', ",", "\r\n", "ß"),
    );
    const isFormula = (of: string) => /^([\t\r\n]|[\s\p{C}\p{Z}]*[=+\-@\u2212])/u.test(of.normalize("NFKC"));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 }), (rows) => {
        const lines = rows.map(([one, other]) => ({ one, other }));
        const records = cellsIn(textOf("csv", ["one", "other"], lines));
        expect(records).toHaveLength(rows.length);
        for (const [n, record] of records.entries()) {
          for (const [m, cell] of record.entries()) {
            for (const part of cell.split(";")) expect(isFormula(part)).toBe(false);
            const text = rows[n]?.[m] ?? "";
            expect(cell.replaceAll("'", "")).toBe(text.replaceAll("'", ""));
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("separates list items with spaces in CSV, and writes booleans as words and null as an empty cell", () => {
    const line = { list: ["a", "b"], is: true, none: null, count: 3 };
    expect(textOf("csv", ["list", "is", "none", "count"], [line])).toBe("a b,true,,3\r\n");
    expect(textOf("jsonl", ["list", "is", "none", "count"], [line])).toBe(`${JSON.stringify(line)}\n`);
  });

  it("follows a header in CSV that starts with the byte order mark that Excel needs and lists the columns", () => {
    expect([headOf("csv", ["a", "b"]), headOf("jsonl", ["a", "b"])]).toEqual(["\uFEFFa,b\r\n", ""]);
  });
});

describe("the rate of a payment", () => {
  it.each([
    [1_000_000n, 1_000_000n, "1.00000000"],
    [1_234_567n, 3_000_000n, "0.41152233"],
    [null, 1_000_000n, null],
  ])("of %s micro-units for %s units is %s", (fiatMicros, amountUnits, rate) => {
    expect(rateOf({ ...PAYMENT, fiatMicros, amountUnits })).toBe(rate);
  });
});

describe("the sums of a statement", () => {
  const micros = fc.option(fc.bigInt({ min: 0n, max: 10n ** 15n }), { nil: null });
  const payment = fc.record({
    currency: fc.constantFrom("EUR", "USD"),
    network: fc.constantFrom("ETH", "POL", "ETH_SEPOLIA", "POL_AMOY"),
    cryptocurrency: fc.constant("USDC"),
    amountUnits: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    fiatMicros: micros,
  });

  it("are those of all payments on networks with real money, no matter how the payments are divided into pages", () => {
    fc.assert(
      fc.property(fc.array(fc.array(payment, { maxLength: 6 }), { maxLength: 6 }), (pages) => {
        let sums: Sums = new Map();
        for (const page of pages)
          sums = sumsWith(
            sums,
            page.map((each) => ({ ...PAYMENT, ...each })),
          );
        const lines = totalLines(sums);
        for (const currency of ["EUR", "USD"]) {
          const all = pages.flat().filter((each) => each.currency === currency);
          const own = all.filter(({ network }) => network === "ETH" || network === "POL");
          const value = own.reduce((sum, { fiatMicros }) => sum + (fiatMicros ?? 0n), 0n);
          const line = lines.find((each) => each.line === "CURRENCY_TOTAL" && each.currency === currency);
          if (own.length === 0) expect(line).toBeUndefined();
          else expect(line).toMatchObject({ fiatAmount: formatMicros(value), payments: own.length });
        }
        for (const { line, network, fiatAmount } of lines) {
          if (line === "COIN_TOTAL")
            expect([network, fiatAmount === null]).toEqual([network, /_/.test(String(network))]);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
