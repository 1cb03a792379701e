import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  amountDueUnits,
  covers,
  isPriced,
  MAX_WORTH_MICROS,
  microsAtRate,
  overpaidToleranceMicros,
  type PricedMethod,
  underpaidToleranceMicros,
  worthOf,
} from "../../../src/invoices/value.ts";
import type { CreditedPayment } from "../../../src/payments/payment.ts";
import { BTC, E, paymentOf, USDT } from "../../support/invoice-facts.ts";
import { RUNS } from "../../support/property-runs.ts";

function sent(
  method: PricedMethod,
  amountUnits: bigint,
  changes: Partial<Omit<CreditedPayment, "id">> = {},
): CreditedPayment {
  return paymentOf({ network: method.network, cryptocurrency: method.cryptocurrency, amountUnits, ...changes });
}

describe("worth", () => {
  it("what was asked is worth exactly what is expected", () => {
    const payments = [sent(BTC, 147_059n)];
    expect(worthOf({ expectedMicros: E, methods: [USDT, BTC], payments })).toEqual({ micros: E, slackMicros: 0n });
  });

  it("is rounded down once for a method, not for each payment", () => {
    const whole = worthOf({ expectedMicros: E, methods: [BTC], payments: [sent(BTC, 100_001n)] });
    const parts = worthOf({ expectedMicros: E, methods: [BTC], payments: [sent(BTC, 50_000n), sent(BTC, 50_001n)] });
    expect(whole.micros).toBe((E * 100_001n) / 147_059n);
    expect(parts).toEqual(whole);
  });

  it("two methods that together bring what is asked are worth exactly E, though each was rounded down", () => {
    // A third of what each of two methods of 3 units asks is no whole number of micro-units.
    const a = { ...USDT, amountUnits: 3n };
    const b = { ...BTC, amountUnits: 3n };
    const payments = [sent(a, 1n), sent(b, 2n)];
    expect(worthOf({ expectedMicros: 10n, methods: [a, b], payments })).toEqual({ micros: 10n, slackMicros: 1n });
  });

  it("forgives one micro-unit for every method but the first, and no more", () => {
    const worth = { micros: 90n, slackMicros: 2n };
    expect(covers(worth, 92n)).toBe(true);
    expect(covers(worth, 93n)).toBe(false);
    const single = worthOf({ expectedMicros: E, methods: [USDT, BTC], payments: [sent(USDT, E - 1n)] });
    expect(single).toEqual({ micros: E - 1n, slackMicros: 0n });
  });

  it("does not call what is short by more than rounding whole", () => {
    const payments = [sent(USDT, E / 2n - 1n), sent(BTC, 73_529n)];
    const sum = E / 2n - 1n + (E * 73_529n) / 147_059n;
    expect(worthOf({ expectedMicros: E, methods: [USDT, BTC], payments }).micros).toBe(sum);
  });

  it("a payment in an asset without a method is worth what is stored on it, and nothing without that", () => {
    const doge = { network: "DOGE", cryptocurrency: "DOGE" };
    const payments = [paymentOf({ ...doge, fiatMicros: 7n }), paymentOf({ ...doge, fiatMicros: null })];
    expect(worthOf({ expectedMicros: E, methods: [USDT], payments })).toEqual({ micros: 7n, slackMicros: 0n });
  });

  it("the same token on another network is another asset", () => {
    const payments = [sent(USDT, E, { network: "TRX" })];
    expect(worthOf({ expectedMicros: E, methods: [USDT], payments }).micros).toBe(0n);
  });

  it("a method that was never priced is none: its payments are worth what is stored on them", () => {
    const unavailable = { ...USDT, amountUnits: null, quotedAtMs: null, rate: null };
    const payments = [sent(USDT, E, { fiatMicros: 9n })];
    expect(worthOf({ expectedMicros: E, methods: [unavailable], payments }).micros).toBe(9n);
    expect(worthOf({ expectedMicros: 0n, methods: [unavailable], payments }).micros).toBe(9n);
  });

  it("stored worth does not weigh where the method was asked", () => {
    const payments = [sent(USDT, 5n, { fiatMicros: 1_000n })];
    expect(worthOf({ expectedMicros: E, methods: [USDT], payments }).micros).toBe(5n);
  });

  it("stops at what the tables hold exactly", () => {
    const payments = [sent(USDT, 10n ** 40n)];
    expect(worthOf({ expectedMicros: E, methods: [USDT], payments }).micros).toBe(MAX_WORTH_MICROS);
  });
});

describe("worth of a method that was quoted anew", () => {
  const requoted: PricedMethod = {
    ...USDT,
    amountUnits: 200n,
    quotedAtMs: 5_000,
    earlierQuotes: [{ amountUnits: 100n, quotedAtMs: 1_000 }],
  };
  const worth = (payments: CreditedPayment[]) => worthOf({ expectedMicros: E, methods: [requoted], payments });

  test.each([
    ["the first quote, read after the second", 100n, 4_999, E],
    ["the first quote, from before it was made", 100n, 0, E],
    ["the second, from its first millisecond", 200n, 5_000, E],
    ["the first, sent when the second stood", 100n, 5_000, E / 2n],
  ])("what was asked by %s is worth by what stood when it came", (_why, units, receivedAtMs, micros) => {
    expect(worth([sent(requoted, units, { receivedAtMs })]).micros).toBe(micros);
  });

  it("earlier quotes may come in any order", () => {
    const earlierQuotes = [
      { amountUnits: 100n, quotedAtMs: 3_000 },
      { amountUnits: 50n, quotedAtMs: 1_000 },
    ];
    const of = (units: bigint, receivedAtMs: number) =>
      worthOf({
        expectedMicros: E,
        methods: [{ ...requoted, earlierQuotes }],
        payments: [sent(requoted, units, { receivedAtMs })],
      }).micros;
    expect([of(50n, 0), of(50n, 2_999), of(100n, 3_000), of(200n, 5_000)]).toEqual([E, E, E, E]);
  });

  it("each quote with money is an addend of its own", () => {
    const payments = [sent(requoted, 50n, { receivedAtMs: 2_000 }), sent(requoted, 100n, { receivedAtMs: 6_000 })];
    expect(worth(payments)).toEqual({ micros: E, slackMicros: 1n });
  });
});

describe("whether a payment is weighed against a method", () => {
  test.each([
    ["it asks for an amount", USDT, E, true],
    ["it asked before", { ...USDT, amountUnits: null, earlierQuotes: [{ amountUnits: 1n, quotedAtMs: 0 }] }, E, true],
    ["it was never quoted", { ...USDT, amountUnits: null, quotedAtMs: null }, E, false],
    ["any amount is asked, and it has a rate", { ...USDT, amountUnits: null }, 0n, true],
    ["any amount is asked, and it has no rate", { ...USDT, amountUnits: null, rate: null }, 0n, false],
  ])("%s", (_, method, expectedMicros, wanted) => {
    expect(isPriced(method, expectedMicros)).toBe(wanted);
    // What is stored on the payment decides exactly where it is not.
    const weigh = (fiatMicros: bigint) =>
      worthOf({ expectedMicros, methods: [method], payments: [paymentOf({ fiatMicros })] }).micros;
    expect(weigh(2n) === weigh(3n)).toBe(wanted);
  });
});

describe("worth on an any-amount invoice", () => {
  const anyAmount = { ...BTC, amountUnits: null, quotedAtMs: null };

  it("is the rate at activation, rounded down", () => {
    // 0.00147059 BTC x 68,000.1 = 100.000267059 (a figure of seven digits behind the micro-unit is cut).
    const worth = worthOf({ expectedMicros: 0n, methods: [anyAmount], payments: [sent(BTC, 147_059n)] });
    expect(worth.micros).toBe(100_000_267n);
  });

  it("is at least one micro-unit", () => {
    const shib = { ...USDT, amountUnits: null, rate: "0.00001", decimals: 18 };
    expect(worthOf({ expectedMicros: 0n, methods: [shib], payments: [sent(shib, 1n)] }).micros).toBe(1n);
    const unknown = paymentOf({ network: "X", fiatMicros: null });
    expect(worthOf({ expectedMicros: 0n, methods: [shib], payments: [unknown] }).micros).toBe(1n);
    expect(worthOf({ expectedMicros: 0n, methods: [shib], payments: [] }).micros).toBe(0n);
  });

  test.each([
    ["one bitcoin", 100_000_000n, 8, "68000.1", 68_000_100_000n],
    ["one wei of ether", 1n, 18, "2500", 0n],
    ["a whole rate", 1_500_000n, 6, "2", 3_000_000n],
    ["a rate finer than a micro-unit", 10n ** 18n, 18, "0.00000012345", 0n],
    ["a hundred of them", 100n * 10n ** 18n, 18, "0.00000012345", 12n],
  ])("%s at a rate", (_what, units, decimals, rate, micros) => {
    expect(microsAtRate({ units, decimals, rate })).toBe(micros);
  });

  it("takes a rate that is no decimal text for a bug", () => {
    expect(() => microsAtRate({ units: 1n, decimals: 6, rate: "cheap" })).toThrow(/rate/);
  });
});

describe("what is still due", () => {
  test.each([
    ["nothing received: all of it", 147_059n, E, 0n, 147_059n],
    ["half received: half, rounded up", 147_059n, E, E / 2n, 73_530n],
    ["all but a micro-unit: one unit", 147_059n, E, E - 1n, 1n],
    ["all", 147_059n, E, E, 0n],
    ["more than all", 147_059n, E, 2n * E, 0n],
    ["any amount", 147_059n, 0n, 0n, null],
    ["no amount", null, E, 0n, null],
  ])("%s", (_why, amountUnits, expectedMicros, receivedMicros, due) => {
    expect(amountDueUnits({ amountUnits, expectedMicros, receivedMicros })).toBe(due);
  });
});

describe("tolerances", () => {
  test.each([
    ["1 % of 100", E, 100, 5_000_000n, 1_000_000n],
    ["1 % of 1,000 meets the most", 10n * E, 100, 5_000_000n, 5_000_000n],
    ["exactly the most", 5n * E, 100, 5_000_000n, 5_000_000n],
    ["rounded down", 199n, 100, 5_000_000n, 1n],
    ["none", E, 0, 5_000_000n, 0n],
    ["any amount", 0n, 100, 5_000_000n, 0n],
  ])("underpaid: %s", (_why, expectedMicros, basisPoints, maxMicros, tolerance) => {
    expect(underpaidToleranceMicros({ expectedMicros, basisPoints, maxMicros })).toBe(tolerance);
  });

  test.each([
    ["5 % of 100", E, 500, 5_000_000n],
    ["100 %", E, 10_000, E],
    ["rounded down", 39n, 500, 1n],
  ])("overpaid: %s", (_why, expectedMicros, basisPoints, tolerance) => {
    expect(overpaidToleranceMicros({ expectedMicros, basisPoints })).toBe(tolerance);
  });
});

describe("properties of worth", () => {
  const expected = fc.bigInt(1n, 1_000_000_000_000n);
  const asked = fc.bigInt(1n, 10n ** 24n);
  const amounts = fc.array(fc.bigInt(1n, 10n ** 24n), { minLength: 1, maxLength: 5 });

  it("what a method asks is worth exactly E, in however many payments", () => {
    fc.assert(
      fc.property(expected, amounts, (expectedMicros, parts) => {
        const method = { ...USDT, amountUnits: parts.reduce((a, b) => a + b) };
        const worth = worthOf({
          expectedMicros,
          methods: [method],
          payments: parts.map((units) => sent(method, units)),
        });
        expect(worth).toEqual({ micros: expectedMicros, slackMicros: 0n });
      }),
      { numRuns: RUNS },
    );
  });

  it("paying exactly what is still due in another method pays the whole", () => {
    fc.assert(
      fc.property(expected, asked, asked, fc.bigInt(0n, 10_000n), (expectedMicros, a, b, share) => {
        const [first, second] = [
          { ...USDT, amountUnits: a },
          { ...BTC, amountUnits: b },
        ];
        const methods = [first, second];
        const partial = [sent(first, (a * share) / 10_000n)];
        const receivedMicros = worthOf({ expectedMicros, methods, payments: partial }).micros;
        const due = amountDueUnits({ amountUnits: b, expectedMicros, receivedMicros }) ?? 0n;
        const worth = worthOf({ expectedMicros, methods, payments: [...partial, sent(second, due)] });
        expect(worth.micros).toBeGreaterThanOrEqual(expectedMicros);
        expect(amountDueUnits({ amountUnits: a, expectedMicros, receivedMicros: worth.micros })).toBe(0n);
      }),
      { numRuns: RUNS },
    );
  });

  it("the worth of the parts never exceeds that of the whole, and falls short by less than one micro-unit a part", () => {
    fc.assert(
      fc.property(expected, asked, amounts, (expectedMicros, amountUnits, parts) => {
        const method = { ...USDT, amountUnits };
        const of = (units: bigint) =>
          worthOf({ expectedMicros, methods: [method], payments: [sent(method, units)] }).micros;
        const whole = of(parts.reduce((a, b) => a + b));
        fc.pre(whole < MAX_WORTH_MICROS);
        const sum = parts.map(of).reduce((a, b) => a + b);
        expect(sum).toBeLessThanOrEqual(whole);
        expect(whole - sum).toBeLessThanOrEqual(BigInt(parts.length) - 1n);
      }),
      { numRuns: RUNS },
    );
  });

  it("parts of several methods that add up to what is asked, exactly, are E", () => {
    fc.assert(
      fc.property(
        expected,
        fc.array(fc.bigInt(1n, 1_000n), { minLength: 1, maxLength: 6 }),
        (expectedMicros, shares) => {
          // Method i asks the same n units of its own coin and is paid its share of them.
          const amountUnits = shares.reduce((a, b) => a + b);
          const methods = shares.map((_, i) => ({ ...USDT, cryptocurrency: `C${i}`, amountUnits }));
          const payments = shares.map((units, i) => paymentOf({ cryptocurrency: `C${i}`, amountUnits: units }));
          expect(worthOf({ expectedMicros, methods, payments }).micros).toBe(expectedMicros);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("more money is never worth less", () => {
    fc.assert(
      fc.property(expected, asked, asked, amounts, amounts, (expectedMicros, a, b, inFirst, inSecond) => {
        const methods = [
          { ...USDT, amountUnits: a },
          { ...BTC, amountUnits: b },
        ];
        const payments = [...inFirst.map((units) => sent(USDT, units)), ...inSecond.map((units) => sent(BTC, units))];
        const worths = payments.map(
          (_, i) => worthOf({ expectedMicros, methods, payments: payments.slice(0, i + 1) }).micros,
        );
        expect(worths).toEqual(worths.toSorted((x, y) => (x < y ? -1 : 1)));
      }),
      { numRuns: RUNS },
    );
  });
});
