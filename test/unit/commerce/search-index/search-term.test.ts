import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { networkNamed } from "../../../../src/chains/registry/networks.ts";
import { searchTerms } from "../../../../src/commerce/search-index/search-term.ts";

const EVM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const HASH = "5c".repeat(32);

const startsOf = (ranges: readonly { readonly from: string }[]) => ranges.map(({ from }) => from);
const isEvm = (network: string) => networkNamed(network)?.family === "evm";

describe("a search text", () => {
  it.each([
    [`inv_${ULID}`, [`inv_${ULID}`], [], []],
    [`  INV_${ULID.toLowerCase()} `, [`inv_${ULID}`], [], []],
    [`inv_${ULID.slice(0, 16)}`, [`inv_${ULID.slice(0, 16)}`], [], []],
    [`cus_${ULID}`, [], [`cus_${ULID}`], []],
    [`pay_${ULID}`, [], [], [`pay_${ULID}`]],
    // A shorter prefix would match the ids of all merchants.
    [`inv_${ULID.slice(0, 15)}`, [], [], []],
    [`inv_${ULID}0`, [], [], []],
    [`mer_${ULID}`, [], [], []],
    ["inv_%", [], [], []],
  ])(
    "%j is the start of the invoice ids %j, customer ids %j and payment ids %j",
    (text, invoices, customers, payments) => {
      const terms = searchTerms(text);
      expect([terms.invoiceIds, terms.customerIds, terms.paymentIds].map(startsOf)).toEqual([
        invoices,
        customers,
        payments,
      ]);
    },
  );

  it.each([HASH, `0x${HASH}`, HASH.toUpperCase(), `0X${HASH.toUpperCase()}`, `0x${HASH}`.slice(0, 12)])(
    "%j is a transaction on every network with that notation, in the form that each network stores",
    (text) => {
      const digits = text.toLowerCase().replace("0x", "");
      const { transactions } = searchTerms(text);
      expect(transactions.length).toBeGreaterThan(10);
      expect(transactions.some(({ network }) => network === "TRX")).toBe(true);
      expect(transactions.some(({ network }) => network === "BTC")).toBe(!/^0x/i.test(text));
      for (const { network, from } of transactions) expect(from).toBe(isEvm(network) ? `0x${digits}` : digits);
    },
  );

  it.each(["1001", "0x12", "abcdefg", `${HASH}0`, "0x", "g".repeat(64), EVM, EVM.toLowerCase()])(
    "%j is not a transaction",
    (text) => {
      expect(searchTerms(text).transactions).toEqual([]);
    },
  );

  it.each([EVM, EVM.slice(2), EVM.toLowerCase(), EVM.toUpperCase(), EVM.slice(2).toUpperCase()])(
    "%j is an address on every EVM network, in lower case",
    (text) => {
      expect(startsOf(searchTerms(text).addresses)).toContain(EVM.toLowerCase());
    },
  );

  it.each([
    ["BC1QCR8TE4KR609GCAWUTMRZA0J4XV80JY8Z306FYU", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
    ["1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "1bvbmseystwetqtfn5au4m4gfg7xjanvn2"],
    ["TR7NHq", "tr7nhq"],
    ["41a614f803b6fd780986a42c78ec9c7f77e6ded13c", "tr7nhqjekqxgtci8q8zy4pl8otszgjlj6t"],
    ["0x41A614F803B6FD780986A42C78EC9C7F77E6DED13C", "tr7nhqjekqxgtci8q8zy4pl8otszgjlj6t"],
    ["5aAeb6", "0x5aaeb6"],
    ["0x5aAe", "0x5aae"],
  ])("%j is an address or the start of one, in lower case", (text, address) => {
    expect(startsOf(searchTerms(text).addresses)).toContain(address);
  });

  it.each(["5aAeb", "bc1q-x", "bc1q xyz", "a@b.cd", "ä".repeat(8)])("%j is not the start of an address", (text) => {
    expect(searchTerms(text).addresses).toEqual([]);
  });

  it.each([
    ["1234.50", 1_234_500_000, null],
    ["1,234.50", 1_234_500_000, null],
    ["1.234,50", 1_234_500_000, null],
    ["1234,5", 1_234_500_000, null],
    ["1,234", 1_234_000_000, null],
    ["1.234", 1_234_000, null],
    ["€49", 49_000_000, null],
    ["49 €", 49_000_000, null],
    ["49 eur", 49_000_000, "EUR"],
    ["USDT 0.000001", 1, "USDT"],
    ["1,23", 1_230_000, null],
    ["1000000", 1_000_000_000_000, null],
  ])("%j is an amount", (text, micros, currency) => {
    expect(searchTerms(text).amounts).toEqual([{ micros, currency }]);
  });

  it.each(["1000000.000001", "0.0000001", "12,34,56", "-5", "1e3", "5 %", "EUR 5 EUR", "EUR", "1.2.3", "9".repeat(40)])(
    "%j is not an invoice's amount",
    (text) => {
      expect(searchTerms(text).amounts).toEqual([]);
    },
  );

  it("is used as an email in lower case and as separate words", () => {
    const terms = searchTerms("Anna O'Neil-ÅS@shop.example");
    expect(startsOf(terms.emails)).toEqual(["anna o'neil-ås@shop.example"]);
    expect(startsOf(terms.words)).toEqual(["anna", "o", "neil", "as", "shop", "example"]);
  });

  it("of any kind gives fewer than 60 ranges and amounts to search for, and no range is empty", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 320 }), (text) => {
        const { text: _, amounts, ...ranges } = searchTerms(text);
        const all = Object.values(ranges).flat();
        expect(all.length + amounts.length).toBeLessThan(60);
        const order = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
        for (const { from, below } of all) expect(order(from, below)).toBeLessThan(0);
      }),
    );
  });
});
