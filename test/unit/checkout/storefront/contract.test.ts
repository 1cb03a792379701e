import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { orderOf } from "../../../../src/checkout/storefront/contract.ts";
import { type Asking, askedFields, typedFields } from "../../../../src/checkout/storefront/order.ts";
import { isLanguage, LANGUAGES } from "../../../../src/platform/texts/languages.ts";
import { RUNS } from "../../../support/property-runs.ts";

const PLAIN: Asking = {
  askForName: false,
  askForAddress: false,
  askForPhoneNumber: false,
  priceMicros: 1n,
  currency: "EUR",
};
const ALL: Asking = {
  askForName: true,
  askForAddress: true,
  askForPhoneNumber: true,
  priceMicros: 0n,
  currency: "EUR",
};
const LANGUAGE_CODES = Object.keys(LANGUAGES).filter(isLanguage);
const FILLED = { name: "Jane", address: "1 Main St", phone: "+1 555" };

describe("a product's form", () => {
  it("always asks for the email, which is optional; the product decides about the other fields", () => {
    expect(askedFields(PLAIN)).toMatchObject([{ name: "email", isRequired: false }]);
    expect(askedFields(ALL)).toMatchObject([
      { name: "amount", isRequired: false },
      { name: "name", isRequired: true },
      { name: "email", isRequired: false },
      { name: "address", isRequired: true },
      { name: "phone", isRequired: true },
    ]);
  });

  it("becomes an order with the typed values, trimmed", () => {
    expect(orderOf(ALL, { ...FILLED, name: "  Jane\n", email: " jane@example.com ", amount: "2,5" }, "en")).toEqual({
      ok: true,
      value: {
        customerName: "Jane",
        customerEmail: "jane@example.com",
        customerAddress: "1 Main St",
        customerPhoneNumber: "+1 555",
        rawAmount: 2_500_000n,
      },
    });
  });

  it("ignores fields that the product does not ask for", () => {
    expect(typedFields(PLAIN, { ...FILLED, amount: "5", email: "" })).toEqual({});
    expect(orderOf(PLAIN, { ...FILLED, name: "x".repeat(1_000), amount: "many" }, "en").ok).toBe(true);
  });

  it.each([
    ["nothing entered", {}, { name: "required", address: "required", phone: "required" }],
    ["only spaces", { ...FILLED, name: " \t" }, { name: "required" }],
    ["a name of 201 characters", { ...FILLED, name: "x".repeat(201) }, { name: "long" }],
    ["an address of 501 characters", { ...FILLED, address: "x".repeat(501) }, { address: "long" }],
    ["a phone number of 51 characters", { ...FILLED, phone: "1".repeat(51) }, { phone: "long" }],
    ["an invalid email", { ...FILLED, email: "jane@" }, { email: "email" }],
    ["an email of 321 characters", { ...FILLED, email: `${"x".repeat(309)}@example.com` }, { email: "email" }],
    ["an invalid amount", { ...FILLED, amount: "much" }, { amount: "amount" }],
    ["an amount below 0", { ...FILLED, amount: "-1" }, { amount: "amount" }],
    [
      "all at once",
      { email: "no", amount: "no", name: "x".repeat(201) },
      { name: "long", email: "email", amount: "amount", address: "required", phone: "required" },
    ],
  ])("is refused with a problem for each invalid field: %s", (_, form, problems) => {
    expect(orderOf(ALL, form, "en")).toEqual({ ok: false, error: problems });
  });

  it.each([
    ["a name of 200 characters, each two units long", { name: "🏦".repeat(200) }],
    ["an address of 500 lines", { address: `a${"\n".repeat(498)}b` }],
  ])("accepts %s", (_, fields) => {
    expect(orderOf(ALL, { ...FILLED, ...fields }, "en").ok).toBe(true);
  });

  it.each([
    ["en", "EUR", "1,234.50", 1_234_500_000n],
    ["de", "EUR", "1.234,50", 1_234_500_000n],
    ["de", "EUR", "1.234", 1_234_000_000n],
    ["fr", "EUR", "1\u202f234,50", 1_234_500_000n],
    ["ar", "EUR", "١٬٢٣٤٫٥٠", 1_234_500_000n],
    ["ja", "JPY", "１，２３４", 1_234_000_000n],
    ["en", "BTC", "0.000001", 1n],
    ["en", "EUR", "1000000", 1_000_000_000_000n],
  ] as const)("reads an amount as a payer writes it in %s and %s: %j", (language, currency, amount, rawAmount) => {
    const order = orderOf({ ...ALL, currency }, { ...FILLED, amount }, language);
    expect(order).toMatchObject({ ok: true, value: { rawAmount } });
  });

  it.each([
    ["en", "EUR", "1.234", { kind: "AMBIGUOUS", readings: ["1.234", "1234"], instead: ["1.23", "1234"] }],
    ["de", "EUR", "1,234", { kind: "AMBIGUOUS", readings: ["1.234", "1234"], instead: ["1,23", "1234"] }],
    ["en", "JPY", "12.5", "amount"],
    ["en", "EUR", "0.001", "amount"],
    ["en", "EUR", "1000000.01", "amount"],
  ] as const)(
    "refuses, in %s and %s, amounts that are invalid or ambiguous: %j",
    (language, currency, amount, problem) => {
      const order = orderOf({ ...ALL, currency }, { ...FILLED, amount }, language);
      expect(order).toEqual({ ok: false, error: { amount: problem } });
    },
  );

  it("returns either an order or a problem with one of its own fields, for any input", () => {
    const text = fc.option(fc.string(), { nil: undefined });
    const form = fc.record({ token: text, email: text, name: text, address: text, phone: text, amount: text });
    fc.assert(
      fc.property(form, fc.constantFrom(PLAIN, ALL), fc.constantFrom(...LANGUAGE_CODES), (sent, product, language) => {
        const order = orderOf(product, sent, language);
        const names = askedFields(product).map(({ name }) => String(name));
        const wrong = order.ok ? [] : Object.keys(order.error);
        expect(order.ok).toBe(wrong.length === 0);
        for (const name of wrong) expect(names).toContain(name);
      }),
      { numRuns: RUNS },
    );
  });
});
