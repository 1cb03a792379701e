import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { searchTerms } from "../../../../src/commerce/search/search-term.ts";

const EVM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const HASH = "5c".repeat(32);

const startsOf = (ranges: readonly { readonly from: string }[]) => ranges.map(({ from }) => from);
const isEvm = (network: string) => /^(ETH|POL|BNB|CRO)/.test(network);

describe("a text that is searched for", () => {
  it.each([
    [`inv_${ULID}`, [`inv_${ULID}`], [], []],
    [`  INV_${ULID.toLowerCase()} `, [`inv_${ULID}`], [], []],
    [`inv_${ULID.slice(0, 16)}`, [`inv_${ULID.slice(0, 16)}`], [], []],
    [`cus_${ULID}`, [], [`cus_${ULID}`], []],
    [`pay_${ULID}`, [], [], [`pay_${ULID}`]],
    // Fewer characters are those of ids of all merchants.
    [`inv_${ULID.slice(0, 15)}`, [], [], []],
    [`inv_${ULID}0`, [], [], []],
    [`mer_${ULID}`, [], [], []],
    ["inv_%", [], [], []],
  ])("%j is an id of an invoice, a customer or a payment, in any case", (text, invoices, customers, payments) => {
    const terms = searchTerms(text);
    expect([terms.invoiceIds, terms.customerIds, terms.paymentIds].map(startsOf)).toEqual([
      invoices,
      customers,
      payments,
    ]);
  });

  it.each([HASH, `0x${HASH}`, HASH.toUpperCase(), `0X${HASH.toUpperCase()}`, `0x${HASH}`.slice(0, 12)])(
    "%j is a transaction on every network, as each stores it",
    (text) => {
      const digits = text.toLowerCase().replace("0x", "");
      const { transactions } = searchTerms(text);
      expect(transactions.length).toBeGreaterThan(10);
      for (const { network, from } of transactions) expect(from).toBe(isEvm(network) ? `0x${digits}` : digits);
    },
  );

  it.each(["1001", "0x12", "abcdefg", `${HASH}0`, "0x", "g".repeat(64)])("%j is no transaction", (text) => {
    expect(searchTerms(text).transactions).toEqual([]);
  });

  it.each([EVM, EVM.slice(2), EVM.toLowerCase(), EVM.toUpperCase(), EVM.slice(2).toUpperCase()])(
    "%j is the address on every EVM network",
    (text) => {
      const { addresses } = searchTerms(text);
      const evm = addresses.filter(({ network }) => isEvm(network));
      expect(evm.length).toBeGreaterThanOrEqual(8);
      expect(new Set(evm.map(({ address }) => address))).toEqual(new Set([EVM]));
    },
  );

  it.each([
    ["BC1QCR8TE4KR609GCAWUTMRZA0J4XV80JY8Z306FYU", "BTC", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
    ["1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "BTC", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"],
    ["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TRX", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"],
    ["41a614f803b6fd780986a42c78ec9c7f77e6ded13c", "TRX", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"],
    ["0x41A614F803B6FD780986A42C78EC9C7F77E6DED13C", "TRX", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"],
  ])("%j is an address of its network, as it is stored", (text, network, address) => {
    expect(searchTerms(text).addresses).toContainEqual({ network, address });
  });

  it("is an email in lower case, and a name as typed and with capitals", () => {
    const terms = searchTerms("anna o'neil-ÅS");
    expect(startsOf(terms.emails)).toEqual(["anna o'neil-ås"]);
    expect(startsOf(terms.names)).toEqual(["anna o'neil-ÅS", "Anna O'Neil-ÅS"]);
    expect(startsOf(searchTerms("Anna").names)).toEqual(["Anna"]);
  });

  it("gives few ranges, each of what begins with its start, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 320 }), (text) => {
        const { text: _, addresses, ...ranges } = searchTerms(text);
        const all = Object.values(ranges).flat();
        expect(all.length + addresses.length).toBeLessThan(60);
        const order = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
        for (const { from, below } of all) expect(order(from, below)).toBeLessThan(0);
      }),
    );
  });
});
