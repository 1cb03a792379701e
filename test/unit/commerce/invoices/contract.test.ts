import { describe, expect, it } from "vitest";
import { createInvoiceBody, listInvoicesQuery, updateInvoiceBody } from "../../../../src/commerce/invoices/contract.ts";
import type { Json } from "../../../../src/lib/typed-json.ts";

const MINIMAL = { name: "Order 1", rawAmount: 10 };
const accepts = (changes: Record<string, Json>) => createInvoiceBody().safeParse({ ...MINIMAL, ...changes }).success;
const pathsOf = (body: unknown) =>
  createInvoiceBody()
    .safeParse(body)
    .error?.issues.map(({ path }) => path.map(String).join(".")) ?? [];

describe("a new invoice", () => {
  it("requires a name and an amount, and defaults to USD", () => {
    expect(createInvoiceBody().parse(MINIMAL)).toEqual({ name: "Order 1", rawAmount: 10_000_000n, currency: "USD" });
    expect(pathsOf({}).sort()).toEqual(["name", "rawAmount"]);
  });

  it.each([[undefined], [null], [[]], ["text"], [1], [true]])("cannot be %j", (body) => {
    expect(createInvoiceBody().safeParse(body).success).toBe(false);
  });

  const lengths: readonly [string, number, number][] = [
    ["name", 1, 200],
    ["customerName", 1, 200],
    ["customerAddress", 0, 500],
    ["customerPhoneNumber", 0, 50],
    ["description", 0, 1_000],
    ["externalId", 1, 200],
  ];
  it.each(lengths)("accepts %s with %d to %d code points, regardless of bytes or UTF-16 units", (field, min, max) => {
    for (const letter of ["a", "é", "€", "😀", "\u202e", "\u0301"]) {
      expect([letter, accepts({ [field]: letter.repeat(max) })]).toEqual([letter, true]);
      expect([letter, accepts({ [field]: letter.repeat(max + 1) })]).toEqual([letter, false]);
    }
    expect(accepts({ [field]: "" })).toBe(min === 0);
  });

  it("keeps texts exactly as sent, without trimming or normalization, and with bidi and control characters", () => {
    const name = " \u202eOrder\u0001 e\u0301 👩‍👩‍👧 ";
    expect(createInvoiceBody().parse({ ...MINIMAL, name }).name).toBe(name);
  });

  it.each([
    "Name",
    "amount",
    "rawamount",
    "status",
    "id",
    "merchantId",
    "payment_methods",
    "__proto__",
    "constructor",
    "toString",
  ])("refuses the unknown field %s, and so does a change", (field) => {
    const body = JSON.parse(`{"name":"a","rawAmount":1,${JSON.stringify(field)}:{}}`);
    expect(createInvoiceBody().safeParse(body).success).toBe(false);
    const change = JSON.parse(`{"name":"a",${JSON.stringify(field)}:{}}`);
    expect(updateInvoiceBody().safeParse(change).success).toBe(false);
  });

  const amounts: readonly [number, bigint][] = [
    [0, 0n],
    [-0, 0n],
    [0.1 + 0.2, 300_000n],
    [0.1234565, 123_457n],
    [0.1234564, 123_456n],
    [1_000_000, 1_000_000_000_000n],
  ];
  it.each(amounts)("with the rawAmount %d has %d micro-units", (rawAmount, micros) => {
    expect(createInvoiceBody().parse({ ...MINIMAL, rawAmount }).rawAmount).toBe(micros);
  });

  it.each([
    "10",
    "",
    "NaN",
    null,
    true,
    [10],
    {},
    -0.000001,
    -1,
    1e-7,
    4.9e-7,
    1_000_000.000001,
    1_000_001,
    JSON.parse("1e400"),
  ])("refuses the rawAmount %j", (rawAmount) => {
    expect(pathsOf({ ...MINIMAL, rawAmount })).toEqual(["rawAmount"]);
  });

  it("is refused above the maximum, which is low for IDR and VND, with an error that names the maximum", () => {
    const parsed = createInvoiceBody().safeParse({ ...MINIMAL, rawAmount: 1_500_000, currency: "VND" });
    expect(parsed.error?.issues.map(({ message }) => message)).toEqual(["must be at most 1000000, in every currency"]);
  });
});

describe("the currency of an invoice", () => {
  // The fiat currencies in decisions 4.
  const fiat =
    "USD EUR GBP CAD AUD JPY CHF CNY HKD SGD NZD SEK NOK DKK PLN CZK HUF RON TRY ILS ZAR BRL MXN INR IDR MYR PHP THB KRW ISK".split(
      " ",
    );
  it.each([...fiat, "BTC", "LTC", "ETH", "USDT", "USDC", "TRX"])("may be %s, in upper or lower case", (currency) => {
    expect(createInvoiceBody().parse({ ...MINIMAL, currency: currency.toLowerCase() }).currency).toBe(currency);
    expect(createInvoiceBody().parse({ ...MINIMAL, currency }).currency).toBe(currency);
  });

  it.each(["", "US", "USDX", "XXX", "US D", "USD ", "€", "DOGE", "CBBTC", "toString"])(
    "may not be %j, and the error lists the known currencies",
    (currency) => {
      const parsed = createInvoiceBody().safeParse({ ...MINIMAL, currency });
      expect(parsed.error?.issues[0]?.message).toContain("USD, EUR, GBP");
    },
  );
});

describe("the metadata of an invoice", () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "v"]));
  /** An object whose JSON, `{"k":"…"}`, has this many bytes. */
  const sized = (bytes: number, letter: string) => ({
    k: letter.repeat((bytes - 8) / new TextEncoder().encode(letter).length),
  });

  it("has at most 50 keys", () => {
    expect([0, 1, 50, 51].map((count) => accepts({ metadata: keys(count) }))).toEqual([true, true, true, false]);
  });

  it("is at most 8,192 bytes as JSON, counted in UTF-8 and with its escapes", () => {
    expect(accepts({ metadata: sized(8_192, "a") })).toBe(true);
    expect(accepts({ metadata: sized(8_193, "a") })).toBe(false);
    expect(accepts({ metadata: sized(8_192, "😀") })).toBe(true);
    expect(accepts({ metadata: sized(8_196, "😀") })).toBe(false);
    expect(accepts({ metadata: { k: '"'.repeat(4_092) } })).toBe(true);
    expect(accepts({ metadata: { k: '"'.repeat(4_093) } })).toBe(false);
  });

  it.each([[null], [[]], ["a"], [{ a: 1 }], [{ a: null }], [{ a: ["b"] }], [{ a: { b: "c" } }], [{ a: true }]])(
    "cannot be %j",
    (metadata) => {
      expect(accepts({ metadata })).toBe(false);
    },
  );

  it("is either refused or stored completely when it has a __proto__ key", () => {
    const body = JSON.parse('{"name":"a","rawAmount":1,"metadata":{"__proto__":"x","a":"b"}}');
    const parsed = createInvoiceBody().safeParse(body);
    expect(Object.keys(parsed.data?.metadata ?? body.metadata)).toEqual(["__proto__", "a"]);
  });

  it("keeps every key, whatever its name", () => {
    const text = '{"constructor":"a","toString":"b","":"c","a.b":"d","😀":"e"}';
    expect(createInvoiceBody().parse({ ...MINIMAL, metadata: JSON.parse(text) }).metadata).toEqual(JSON.parse(text));
  });
});

describe("the other fields of an invoice", () => {
  const urlOf = (length: number) => `https://shop.example/${"a".repeat(length - 21)}`;

  it("include a redirect URL of at most 2,048 characters", () => {
    expect([urlOf(2_048).length, accepts({ redirectUrl: urlOf(2_048) })]).toEqual([2_048, true]);
    expect([urlOf(2_049).length, accepts({ redirectUrl: urlOf(2_049) })]).toEqual([2_049, false]);
    expect(accepts({ redirectUrl: "javascript:alert(1)" })).toBe(false);
    expect(accepts({ redirectUrl: "" })).toBe(false);
  });

  it("include a redirect URL whose length is counted in code points", () => {
    expect(accepts({ redirectUrl: `https://shop.example/${"😀".repeat(2_027)}` })).toBe(true);
    expect(accepts({ redirectUrl: `https://shop.example/${"😀".repeat(2_028)}` })).toBe(false);
  });

  it("include a lifetime of one minute to 30 days, in whole seconds", () => {
    const tried = [59, 60, 3_600, 2_592_000, 2_592_001, 60.5, -60, "60"];
    expect(tried.map((expiresInSeconds) => accepts({ expiresInSeconds }))).toEqual([
      false,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it.each(["a@b.example", "A.B+c@Shop.Example", "o'neil@shop.example"])("accept the email %s", (customerEmail) => {
    expect(createInvoiceBody().parse({ ...MINIMAL, customerEmail }).customerEmail).toBe(customerEmail);
  });

  it.each([
    "",
    "a",
    "a@",
    "@b.example",
    "a b@c.example",
    "a@b.example\n",
    "a@b.example, c@d.example",
    `${"a".repeat(320)}@b.example`,
  ])("refuse the email %j", (customerEmail) => {
    expect(accepts({ customerEmail })).toBe(false);
  });

  it("include payment methods, each of which has exactly a cryptocurrency and a network", () => {
    const pair = { cryptocurrency: "BTC", network: "BTC" };
    expect(accepts({ paymentMethods: [] })).toBe(true);
    expect(accepts({ paymentMethods: [pair] })).toBe(true);
    for (const wrong of [{ ...pair, address: "x" }, { network: "BTC" }, "BTC", null, { ...pair, network: 1 }]) {
      expect(accepts({ paymentMethods: [wrong] })).toBe(false);
    }
    expect(accepts({ paymentMethods: pair })).toBe(false);
  });

  it("may be omitted, but may not be null", () => {
    const optional = [
      "currency",
      "customerEmail",
      "customerName",
      "customerAddress",
      "customerPhoneNumber",
      "description",
      "redirectUrl",
      "metadata",
      "externalId",
      "expiresInSeconds",
      "paymentMethods",
    ];
    expect(optional.filter((field) => accepts({ [field]: null }))).toEqual([]);
  });
});

describe("a change to an invoice", () => {
  it("may set every field that decisions 4 lists, and may clear description and redirectUrl", () => {
    const change = {
      name: "b",
      description: null,
      redirectUrl: null,
      customerEmail: "a@b.example",
      customerName: "c",
      customerAddress: "d",
      customerPhoneNumber: "e",
      metadata: { a: "b" },
    };
    expect(updateInvoiceBody().parse(change)).toEqual(change);
    expect(updateInvoiceBody().parse({})).toEqual({});
  });

  it.each(["rawAmount", "currency", "status", "externalId", "expiresInSeconds", "paymentMethods", "productId"])(
    "may not set %s",
    (field) => {
      expect(updateInvoiceBody().safeParse({ [field]: "USD" }).success).toBe(false);
    },
  );

  it("has the same length limits as a new invoice", () => {
    expect(updateInvoiceBody().safeParse({ name: "😀".repeat(200) }).success).toBe(true);
    expect(updateInvoiceBody().safeParse({ name: "😀".repeat(201) }).success).toBe(false);
    expect(updateInvoiceBody().safeParse({ name: "" }).success).toBe(false);
    expect(updateInvoiceBody().safeParse({ redirectUrl: "//x" }).success).toBe(false);
  });
});

describe("a list of invoices", () => {
  it("can be filtered by every field that decisions 4 names", () => {
    const query = {
      status: "PAID",
      currency: "eur",
      customerId: "cus_1",
      externalId: "x",
      ids: "inv_1,inv_2",
      createdFrom: "2026-11-21T00:00:00Z",
      createdTo: "2026-11-22T00:00:00.000Z",
      amountFrom: "49.9",
      amountTo: "50",
      cryptocurrency: "USDC",
      network: "BASE",
      needsReview: "true",
      search: "Ord",
    };
    expect(listInvoicesQuery().parse(query)).toEqual({
      ...query,
      currency: "EUR",
      ids: ["inv_1", "inv_2"],
      createdFrom: Date.UTC(2026, 10, 21),
      createdTo: Date.UTC(2026, 10, 22),
      amountFrom: 49_900_000n,
      amountTo: 50_000_000n,
      needsReview: true,
    });
    expect(listInvoicesQuery().parse({ needsReview: "false" })).toEqual({ needsReview: false });
  });

  it.each([
    ["status", "paid"],
    ["status", "OPEN"],
    ["currency", "XXX"],
    ["ids", ""],
    ["ids", Array.from({ length: 101 }, (_, index) => index).join(",")],
    ["createdFrom", "yesterday"],
    ["createdTo", ""],
    ["amountFrom", "1,000"],
    ["amountTo", "-1"],
    ["network", "MOON"],
    ["needsReview", "1"],
    ["search", ""],
    ["limit", "101"],
    ["page", "0"],
  ])("refuses the filter %s=%s", (name, value) => {
    expect(listInvoicesQuery().safeParse({ [name]: value }).success).toBe(false);
  });
});
