import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  amountDueUnits,
  covers,
  MAX_VALUE_MICROS,
  overpaidToleranceMicros,
  type PricedMethod,
  totalValueOf,
  underpaidToleranceMicros,
  weighingOf,
} from "../../../../src/commerce/invoices/value.ts";
import type { CreditedPayment } from "../../../../src/commerce/payments/payment.ts";
import { microsFor } from "../../../../src/rates/quote.ts";
import { asked, asking, BTC, E, paymentOf, quoteOf, USDT } from "../../../support/invoice-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

function sent(
  method: PricedMethod,
  amountUnits: bigint,
  changes: Partial<Omit<CreditedPayment, "id">> = {},
): CreditedPayment {
  return paymentOf({ network: method.network, cryptocurrency: method.cryptocurrency, amountUnits, ...changes });
}

describe("the total value", () => {
  it("what was asked is worth exactly what is expected", () => {
    const payments = [sent(BTC, 147_059n)];
    expect(totalValueOf({ expectedMicros: E, methods: [USDT, BTC], payments })).toEqual({
      micros: E,
      slackMicros: 0n,
      hasUnweighed: false,
    });
  });

  it("is rounded down once for a quote, not for each payment", () => {
    const whole = totalValueOf({ expectedMicros: E, methods: [BTC], payments: [sent(BTC, 100_001n)] });
    const parts = totalValueOf({
      expectedMicros: E,
      methods: [BTC],
      payments: [sent(BTC, 50_000n), sent(BTC, 50_001n)],
    });
    expect(whole.micros).toBe((E * 100_001n) / 147_059n);
    expect(parts).toEqual(whole);
  });

  it("two methods that together bring what is asked are worth exactly E, though each was rounded down", () => {
    // A third of what each of two methods of 3 units asks is no whole number of micro-units.
    const a = asking(USDT, 3n, 10n);
    const b = asking(BTC, 3n, 10n);
    const payments = [sent(a, 1n), sent(b, 2n)];
    expect(totalValueOf({ expectedMicros: 10n, methods: [a, b], payments })).toMatchObject({
      micros: 10n,
      slackMicros: 1n,
    });
  });

  it("forgives one micro-unit for every quote but the first, and no more", () => {
    const value = { micros: 90n, slackMicros: 2n, hasUnweighed: false };
    expect(covers(value, 92n)).toBe(true);
    expect(covers(value, 93n)).toBe(false);
    const single = totalValueOf({ expectedMicros: E, methods: [USDT, BTC], payments: [sent(USDT, E - 1n)] });
    expect(single).toMatchObject({ micros: E - 1n, slackMicros: 0n });
  });

  it("does not call what is short by more than rounding whole", () => {
    const payments = [sent(USDT, E / 2n - 1n), sent(BTC, 73_529n)];
    const sum = E / 2n - 1n + (E * 73_529n) / 147_059n;
    expect(totalValueOf({ expectedMicros: E, methods: [USDT, BTC], payments }).micros).toBe(sum);
  });

  it("a payment in an asset without a method is worth what it was at first sight", () => {
    const doge = { network: "DOGE", cryptocurrency: "DOGE" };
    const payments = [paymentOf({ ...doge, marketMicros: 7n }), paymentOf({ ...doge, marketMicros: 4n })];
    const value = totalValueOf({ expectedMicros: E, methods: [USDT], payments });
    expect(value).toEqual({ micros: 11n, slackMicros: 0n, hasUnweighed: false });
  });

  it("a payment that nothing prices counts nothing, and says so beside those that count", () => {
    const unpriced = paymentOf({ network: "DOGE", cryptocurrency: "DOGE", marketMicros: null });
    const value = (payments: CreditedPayment[]) => totalValueOf({ expectedMicros: E, methods: [USDT], payments });
    expect(value([unpriced])).toEqual({ micros: 0n, slackMicros: 0n, hasUnweighed: true });
    expect(value([sent(USDT, 5n), unpriced])).toEqual({ micros: 5n, slackMicros: 0n, hasUnweighed: true });
  });

  it("the same token on another network is another asset", () => {
    const payments = [sent(USDT, E, { network: "TRX" })];
    expect(totalValueOf({ expectedMicros: E, methods: [USDT], payments }).micros).toBe(0n);
  });

  it("a method that was never quoted is none: its payments are worth what they were at first sight", () => {
    const unavailable = { ...USDT, quotes: [] };
    const payments = [sent(USDT, E, { marketMicros: 9n })];
    expect(totalValueOf({ expectedMicros: E, methods: [unavailable], payments }).micros).toBe(9n);
    expect(totalValueOf({ expectedMicros: 0n, methods: [unavailable], payments }).micros).toBe(9n);
  });

  it("the value at first sight does not weigh where a quote may be meant", () => {
    const payments = [sent(USDT, 5n, { marketMicros: 1_000n })];
    expect(totalValueOf({ expectedMicros: E, methods: [USDT], payments }).micros).toBe(5n);
  });

  it("stops at what the tables hold exactly", () => {
    const payments = [sent(USDT, 10n ** 40n)];
    expect(totalValueOf({ expectedMicros: E, methods: [USDT], payments }).micros).toBe(MAX_VALUE_MICROS);
    const [payment = paymentOf()] = payments;
    expect(weighingOf(payment, { expectedMicros: E, methods: [USDT] }).micros).toBe(MAX_VALUE_MICROS);
    const dear = Array.from({ length: 3 }, (_, n) => paymentOf({ n, network: "X", marketMicros: MAX_VALUE_MICROS }));
    expect(totalValueOf({ expectedMicros: E, methods: [USDT], payments: dear }).micros).toBe(MAX_VALUE_MICROS);
  });
});

describe("value of a method that was quoted anew", () => {
  const ever = Number.MAX_SAFE_INTEGER;
  const requoted: PricedMethod = {
    ...USDT,
    slackMs: 1_000,
    quotes: [asked(100n, 1_000, 4_999), asked(200n, 5_000, ever)],
  };
  const value = (payments: CreditedPayment[], method = requoted) =>
    totalValueOf({ expectedMicros: E, methods: [method], payments });

  test.each([
    ["the first quote, read after the second", 100n, 4_999, E],
    ["the first quote, from before it was made", 100n, 0, E],
    ["the first quote, by another amount", 50n, 4_999, E / 2n],
    ["the second, from its first millisecond", 200n, 5_000, E],
    ["the second, the slack before it was asked", 200n, 4_000, E],
    ["the second, a millisecond before that", 200n, 3_999, 2n * E],
    ["the first, sent in the slack after it", 100n, 5_999, E],
    ["the first, sent when the second stood", 100n, 6_000, E / 2n],
  ])("what was asked by %s is worth by what it meant then", (_why, units, receivedAtMs, micros) => {
    expect(value([sent(requoted, units, { receivedAtMs })]).micros).toBe(micros);
  });

  it("each quote with money is an addend of its own", () => {
    const payments = [sent(requoted, 50n, { receivedAtMs: 2_000 }), sent(requoted, 100n, { receivedAtMs: 6_000 })];
    expect(value(payments)).toEqual({ micros: E, slackMicros: 1n, hasUnweighed: false });
  });

  it("payments that mean one quote by different rules are added before they are rounded", () => {
    const [quote = quoteOf(), later = quoteOf()] = requoted.quotes;
    const method = { ...requoted, quotes: [{ ...quote, amountUnits: 3n, forMicros: 10n }, later] };
    const payments = [1n, 3n, 2n].map((units, n) => sent(method, units, { receivedAtMs: 4_000 + n }));
    expect(value(payments, method)).toEqual({ micros: 20n, slackMicros: 0n, hasUnweighed: false });
  });

  it("the rest of a partial payment is worth the rest, whatever became of the price", () => {
    const method = { ...requoted, quotes: [asked(100n, 0, 4_999), { ...asked(999n, 5_000, ever), forMicros: E / 2n }] };
    const half = sent(method, 50n, { receivedAtMs: 2_000 });
    expect(value([half, sent(method, 999n, { receivedAtMs: 7_000 })], method).micros).toBe(E);
    expect(value([half, sent(method, 998n, { receivedAtMs: 7_000 })], method).micros).toBeLessThan(E);
  });
});

describe("what weighs a payment", () => {
  const ended = { ...USDT, quotes: [asked(100n, 1_000_000, 2_000_000)] };
  const weigh = (payment: CreditedPayment, methods: PricedMethod[], expectedMicros = E) => {
    const { by, micros } = weighingOf(payment, { expectedMicros, methods });
    return [by?.rule ?? null, micros];
  };

  test.each([
    ["exactly what was asked", 100n, 1_500_000, "EXACT_UNITS", E],
    ["another amount in the lock", 50n, 2_000_000, "IN_FORCE", E / 2n],
    ["another amount before the first quote", 50n, 1_000, "IN_FORCE", E / 2n],
    ["another amount to the end of the slack", 50n, 2_120_000, "LAST_ENDED", E / 2n],
    ["another amount after the slack: the market", 50n, 2_120_001, null, 77n],
    ["the asked amount after the slack: the market", 100n, 2_120_001, null, 77n],
  ] as const)("%s", (_why, units, receivedAtMs, rule, micros) => {
    expect(weigh(sent(ended, units, { receivedAtMs, marketMicros: 77n }), [BTC, ended])).toEqual([rule, micros]);
  });

  it("is nothing where no quote may be meant and no rate was fresh", () => {
    expect(weigh(sent(ended, 100n, { receivedAtMs: 9_000_000 }), [ended])).toEqual([null, null]);
    expect(weigh(sent(BTC, 100n), [ended])).toEqual([null, null]);
  });

  it("is the rate of its quote where any amount was asked, and the market after it", () => {
    const anyAmount = { ...ended, quotes: [{ ...asked(null, 1_000_000, 2_000_000), forMicros: 0n, rate: "2" }] };
    const at = (receivedAtMs: number) => weigh(sent(ended, 5n, { receivedAtMs, marketMicros: 77n }), [anyAmount], 0n);
    expect(at(1_500_000)).toEqual(["IN_FORCE", 10n]);
    expect(at(2_120_000)).toEqual(["LAST_ENDED", 10n]);
    expect(at(2_120_001)).toEqual([null, 77n]);
  });
});

describe("value on an any-amount invoice", () => {
  const anyAmount = asking(BTC, null, 0n);

  it("is the rate at activation, rounded down", () => {
    // 0.00147059 BTC x 68,000.1 = 100.000267059 (a figure of seven digits behind the micro-unit is cut).
    const value = totalValueOf({ expectedMicros: 0n, methods: [anyAmount], payments: [sent(BTC, 147_059n)] });
    expect(value.micros).toBe(100_000_267n);
  });

  it("is at least one micro-unit", () => {
    const quotes = [quoteOf({ amountUnits: null, forMicros: 0n, rate: "0.00001" })];
    const shib = { ...USDT, quotes, decimals: 18 };
    expect(totalValueOf({ expectedMicros: 0n, methods: [shib], payments: [sent(shib, 1n)] }).micros).toBe(1n);
    const unknown = paymentOf({ network: "X", marketMicros: null });
    expect(totalValueOf({ expectedMicros: 0n, methods: [shib], payments: [unknown] })).toMatchObject({
      micros: 1n,
      hasUnweighed: true,
    });
    expect(totalValueOf({ expectedMicros: 0n, methods: [shib], payments: [] }).micros).toBe(0n);
  });

  test.each([
    ["one bitcoin", 100_000_000n, 8, "68000.1", 68_000_100_000n],
    ["one wei of ether", 1n, 18, "2500", 0n],
    ["a whole rate", 1_500_000n, 6, "2", 3_000_000n],
    ["a rate finer than a micro-unit", 10n ** 18n, 18, "0.00000012345", 0n],
    ["a hundred of them", 100n * 10n ** 18n, 18, "0.00000012345", 12n],
  ])("%s at a rate", (_what, units, decimals, rate, micros) => {
    expect(microsFor({ units, decimals, rate })).toBe(micros);
  });

  it("takes a rate that is no decimal text for a bug", () => {
    expect(() => microsFor({ units: 1n, decimals: 6, rate: "cheap" })).toThrow(/rate/);
  });
});

describe("what is still due", () => {
  test.each([
    ["nothing received: all of it", 147_059n, E, E, 0n, 147_059n],
    ["half received: half, rounded up", 147_059n, E, E, E / 2n, 73_530n],
    ["all but a micro-unit: one unit", 147_059n, E, E, E - 1n, 1n],
    ["all", 147_059n, E, E, E, 0n],
    ["more than all", 147_059n, E, E, 2n * E, 0n],
    ["half received, and the rest quoted anew: all of that", 73_530n, E / 2n, E, E / 2n, 73_530n],
    ["half of the rest", 73_530n, E / 2n, E, (3n * E) / 4n, 36_765n],
    ["what was the rest, once half of it left the chain", 73_530n, E / 2n, E, E / 4n, 110_295n],
    ["any amount", 147_059n, 0n, 0n, 0n, null],
    ["no amount", null, E, E, 0n, null],
    ["never quoted", 147_059n, null, E, 0n, null],
  ])("%s", (_why, amountUnits, quoteForMicros, expectedMicros, receivedMicros, due) => {
    expect(amountDueUnits({ amountUnits, quoteForMicros, expectedMicros, receivedMicros })).toBe(due);
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

describe("properties of the total value", () => {
  const expected = fc.bigInt(1n, 1_000_000_000_000n);
  const units = fc.bigInt(1n, 10n ** 24n);
  const amounts = fc.array(fc.bigInt(1n, 10n ** 24n), { minLength: 1, maxLength: 5 });

  it("what a quote asks is worth exactly E, in however many payments", () => {
    fc.assert(
      fc.property(expected, amounts, (expectedMicros, parts) => {
        const sum = parts.reduce((a, b) => a + b);
        const method = asking(USDT, sum, expectedMicros);
        const value = totalValueOf({
          expectedMicros,
          methods: [method],
          payments: parts.map((units) => sent(method, units)),
        });
        expect(value).toEqual({ micros: expectedMicros, slackMicros: 0n, hasUnweighed: false });
      }),
      { numRuns: RUNS },
    );
  });

  it("paying exactly what is still due in another method pays the whole", () => {
    fc.assert(
      fc.property(expected, units, units, fc.bigInt(0n, 10_000n), (expectedMicros, a, b, share) => {
        const first = asking(USDT, a, expectedMicros);
        const second = asking(BTC, b, expectedMicros);
        const methods = [first, second];
        const dueOf = (amountUnits: bigint, receivedMicros: bigint) =>
          amountDueUnits({ amountUnits, quoteForMicros: expectedMicros, expectedMicros, receivedMicros }) ?? -1n;
        const partial = [sent(first, (a * share) / 10_000n)];
        const receivedMicros = totalValueOf({ expectedMicros, methods, payments: partial }).micros;
        const due = dueOf(b, receivedMicros);
        const value = totalValueOf({ expectedMicros, methods, payments: [...partial, sent(second, due)] });
        expect(value.micros).toBeGreaterThanOrEqual(expectedMicros);
        expect(dueOf(a, value.micros)).toBe(0n);
      }),
      { numRuns: RUNS },
    );
  });

  it("paying exactly the rest that was quoted anew pays the whole, at any price", () => {
    fc.assert(
      fc.property(expected, units, units, fc.bigInt(0n, 9_999n), (expectedMicros, a, b, share) => {
        const before = { ...quoteOf({ amountUnits: a, forMicros: expectedMicros }), lockedUntilMs: 999_999 };
        const partial = sent(USDT, (a * share) / 10_000n, { receivedAtMs: 1_000 });
        const terms = { expectedMicros, methods: [{ ...USDT, quotes: [before] }] };
        const { micros } = totalValueOf({ ...terms, payments: [partial] });
        const rest = { ...quoteOf({ amountUnits: b, forMicros: expectedMicros - micros }), askedFromMs: 5_000_000 };
        const methods = [{ ...USDT, quotes: [before, rest] }];
        const payments = [partial, sent(USDT, b, { receivedAtMs: 5_000_000 })];
        expect(totalValueOf({ expectedMicros, methods, payments }).micros).toBe(expectedMicros);
      }),
      { numRuns: RUNS },
    );
  });

  it("the value of the parts never exceeds that of the whole, and falls short by less than one micro-unit a part", () => {
    fc.assert(
      fc.property(expected, units, amounts, (expectedMicros, amountUnits, parts) => {
        const method = asking(USDT, amountUnits, expectedMicros);
        const of = (part: bigint) =>
          totalValueOf({ expectedMicros, methods: [method], payments: [sent(method, part)] }).micros;
        const whole = of(parts.reduce((a, b) => a + b));
        fc.pre(whole < MAX_VALUE_MICROS);
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
          const methods = shares.map((_, i) => ({
            ...asking(USDT, amountUnits, expectedMicros),
            cryptocurrency: `C${i}`,
          }));
          const payments = shares.map((share, i) => paymentOf({ cryptocurrency: `C${i}`, amountUnits: share }));
          expect(totalValueOf({ expectedMicros, methods, payments }).micros).toBe(expectedMicros);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("more money is never worth less", () => {
    fc.assert(
      fc.property(expected, units, units, amounts, amounts, (expectedMicros, a, b, inFirst, inSecond) => {
        const methods = [asking(USDT, a, expectedMicros), asking(BTC, b, expectedMicros)];
        const payments = [...inFirst.map((part) => sent(USDT, part)), ...inSecond.map((part) => sent(BTC, part))];
        const values = payments.map(
          (_, i) => totalValueOf({ expectedMicros, methods, payments: payments.slice(0, i + 1) }).micros,
        );
        expect(values).toEqual(values.toSorted((x, y) => (x < y ? -1 : 1)));
      }),
      { numRuns: RUNS },
    );
  });
});
