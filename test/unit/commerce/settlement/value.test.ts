import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { CreditedPayment } from "../../../../src/commerce/payments/payment.ts";
import {
  amountDueUnits,
  covers,
  MAX_VALUE_MICROS,
  overpaidToleranceMicros,
  type PricedMethod,
  totalValueOf,
  underpaidToleranceMicros,
  weighingOf,
} from "../../../../src/commerce/settlement/value.ts";
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

describe("the total value of payments", () => {
  it("is exactly the expected amount for exactly the quoted units", () => {
    const payments = [sent(BTC, 147_059n)];
    expect(totalValueOf({ expectedMicros: E, methods: [USDT, BTC], payments })).toEqual({
      micros: E,
      slackMicros: 0n,
      hasUnweighed: false,
    });
  });

  it("is rounded down once for each quote, not for each payment", () => {
    const whole = totalValueOf({ expectedMicros: E, methods: [BTC], payments: [sent(BTC, 100_001n)] });
    const parts = totalValueOf({
      expectedMicros: E,
      methods: [BTC],
      payments: [sent(BTC, 50_000n), sent(BTC, 50_001n)],
    });
    expect(whole.micros).toBe((E * 100_001n) / 147_059n);
    expect(parts).toEqual(whole);
  });

  it("is exactly E if two methods add up to the quoted amounts, although each part was rounded down", () => {
    // Each method quotes 3 units for 10 micro-units, so one or two units are not worth a whole number of micro-units.
    const a = asking(USDT, 3n, 10n);
    const b = asking(BTC, 3n, 10n);
    const payments = [sent(a, 1n), sent(b, 2n)];
    expect(totalValueOf({ expectedMicros: 10n, methods: [a, b], payments })).toMatchObject({
      micros: 10n,
      slackMicros: 1n,
    });
  });

  it("tolerates one missing micro-unit for every quote after the first, and no more", () => {
    const worth = { micros: 90n, slackMicros: 2n, hasUnweighed: false };
    expect(covers(worth, 92n)).toBe(true);
    expect(covers(worth, 93n)).toBe(false);
    const single = totalValueOf({ expectedMicros: E, methods: [USDT, BTC], payments: [sent(USDT, E - 1n)] });
    expect(single).toMatchObject({ micros: E - 1n, slackMicros: 0n });
  });

  it("is not rounded up to E if more is missing than rounding explains", () => {
    const payments = [sent(USDT, E / 2n - 1n), sent(BTC, 73_529n)];
    const sum = E / 2n - 1n + (E * 73_529n) / 147_059n;
    expect(totalValueOf({ expectedMicros: E, methods: [USDT, BTC], payments }).micros).toBe(sum);
  });

  it("is the market value at the first observation for an asset without a method", () => {
    const doge = { network: "DOGE", cryptocurrency: "DOGE" };
    const payments = [paymentOf({ ...doge, marketMicros: 7n }), paymentOf({ ...doge, marketMicros: 4n })];
    const worth = totalValueOf({ expectedMicros: E, methods: [USDT], payments });
    expect(worth).toEqual({ micros: 11n, slackMicros: 0n, hasUnweighed: false });
  });

  it("is 0 for a payment of unknown value, which is reported even if other payments have a value", () => {
    const unpriced = paymentOf({ network: "DOGE", cryptocurrency: "DOGE", marketMicros: null });
    const worth = (payments: CreditedPayment[]) => totalValueOf({ expectedMicros: E, methods: [USDT], payments });
    expect(worth([unpriced])).toEqual({ micros: 0n, slackMicros: 0n, hasUnweighed: true });
    expect(worth([sent(USDT, 5n), unpriced])).toEqual({ micros: 5n, slackMicros: 0n, hasUnweighed: true });
  });

  it("does not use the quote for the same token on another network", () => {
    const payments = [sent(USDT, E, { network: "TRX" })];
    expect(totalValueOf({ expectedMicros: E, methods: [USDT], payments }).micros).toBe(0n);
  });

  it("is the market value at the first observation for a method that was never quoted", () => {
    const unavailable = { ...USDT, quotes: [] };
    const payments = [sent(USDT, E, { marketMicros: 9n })];
    expect(totalValueOf({ expectedMicros: E, methods: [unavailable], payments }).micros).toBe(9n);
    expect(totalValueOf({ expectedMicros: 0n, methods: [unavailable], payments }).micros).toBe(9n);
  });

  it("does not use the market value if a quote applies", () => {
    const payments = [sent(USDT, 5n, { marketMicros: 1_000n })];
    expect(totalValueOf({ expectedMicros: E, methods: [USDT], payments }).micros).toBe(5n);
  });

  it("is at most the greatest sum that the tables store exactly", () => {
    const payments = [sent(USDT, 10n ** 40n)];
    expect(totalValueOf({ expectedMicros: E, methods: [USDT], payments }).micros).toBe(MAX_VALUE_MICROS);
    const [payment = paymentOf()] = payments;
    expect(weighingOf(payment, { expectedMicros: E, methods: [USDT] }).micros).toBe(MAX_VALUE_MICROS);
    const dear = Array.from({ length: 3 }, (_, n) => paymentOf({ n, network: "X", marketMicros: MAX_VALUE_MICROS }));
    expect(totalValueOf({ expectedMicros: E, methods: [USDT], payments: dear }).micros).toBe(MAX_VALUE_MICROS);
  });
});

describe("the value of payments with a requoted method", () => {
  const ever = Number.MAX_SAFE_INTEGER;
  const requoted: PricedMethod = {
    ...USDT,
    slackMs: 1_000,
    quotes: [asked(100n, 1_000, 4_999), asked(200n, 5_000, ever)],
  };
  const worth = (payments: CreditedPayment[], method = requoted) =>
    totalValueOf({ expectedMicros: E, methods: [method], payments });

  test.each([
    ["the first quote's amount, paid just before the second quote", 100n, 4_999, E],
    ["the first quote's amount, paid before both quotes", 100n, 0, E],
    ["half of the first quote's amount", 50n, 4_999, E / 2n],
    ["the second quote's amount, paid in its first millisecond", 200n, 5_000, E],
    ["the second quote's amount, paid at the start of the slack before it", 200n, 4_000, E],
    ["the second quote's amount, paid a millisecond before that slack", 200n, 3_999, 2n * E],
    ["the first quote's amount, paid in the slack after it", 100n, 5_999, E],
    ["the first quote's amount, paid after that slack", 100n, 6_000, E / 2n],
  ])("is based on the quote that applied at that time: %s", (_why, units, receivedAtMs, micros) => {
    expect(worth([sent(requoted, units, { receivedAtMs })]).micros).toBe(micros);
  });

  it("is rounded separately for each paid quote", () => {
    const payments = [sent(requoted, 50n, { receivedAtMs: 2_000 }), sent(requoted, 100n, { receivedAtMs: 6_000 })];
    expect(worth(payments)).toEqual({ micros: E, slackMicros: 1n, hasUnweighed: false });
  });

  it("is rounded once for all payments that one quote prices, even by different rules", () => {
    const [quote = quoteOf(), later = quoteOf()] = requoted.quotes;
    const method = { ...requoted, quotes: [{ ...quote, amountUnits: 3n, forMicros: 10n }, later] };
    const payments = [1n, 3n, 2n].map((units, n) => sent(method, units, { receivedAtMs: 4_000 + n }));
    expect(worth(payments, method)).toEqual({ micros: 20n, slackMicros: 0n, hasUnweighed: false });
  });

  it("is exactly the rest if the requoted rest is paid, even after the rate changed", () => {
    const method = { ...requoted, quotes: [asked(100n, 0, 4_999), { ...asked(999n, 5_000, ever), forMicros: E / 2n }] };
    const half = sent(method, 50n, { receivedAtMs: 2_000 });
    expect(worth([half, sent(method, 999n, { receivedAtMs: 7_000 })], method).micros).toBe(E);
    expect(worth([half, sent(method, 998n, { receivedAtMs: 7_000 })], method).micros).toBeLessThan(E);
  });
});

describe("the rule that prices a payment", () => {
  const ended = { ...USDT, quotes: [asked(100n, 1_000_000, 2_000_000)] };
  const weigh = (payment: CreditedPayment, methods: PricedMethod[], expectedMicros = E) => {
    const { by, micros } = weighingOf(payment, { expectedMicros, methods });
    return [by?.rule ?? null, micros];
  };

  test.each([
    ["is EXACT_UNITS for exactly the quoted amount", 100n, 1_500_000, "EXACT_UNITS", E],
    ["is IN_FORCE for another amount during the lock", 50n, 2_000_000, "IN_FORCE", E / 2n],
    ["is IN_FORCE for another amount before the first quote", 50n, 1_000, "IN_FORCE", E / 2n],
    ["is LAST_ENDED for another amount to the end of the slack", 50n, 2_120_000, "LAST_ENDED", E / 2n],
    ["is the market for another amount after the slack", 50n, 2_120_001, null, 77n],
    ["is the market for the quoted amount after the slack", 100n, 2_120_001, null, 77n],
  ] as const)("%s", (_why, units, receivedAtMs, rule, micros) => {
    expect(weigh(sent(ended, units, { receivedAtMs, marketMicros: 77n }), [BTC, ended])).toEqual([rule, micros]);
  });

  it("is null if no quote applies and there is no recent rate", () => {
    expect(weigh(sent(ended, 100n, { receivedAtMs: 9_000_000 }), [ended])).toEqual([null, null]);
    expect(weigh(sent(BTC, 100n), [ended])).toEqual([null, null]);
  });

  it("uses the quote's rate on an any-amount invoice, and the market after the slack", () => {
    const anyAmount = { ...ended, quotes: [{ ...asked(null, 1_000_000, 2_000_000), forMicros: 0n, rate: "2" }] };
    const at = (receivedAtMs: number) => weigh(sent(ended, 5n, { receivedAtMs, marketMicros: 77n }), [anyAmount], 0n);
    expect(at(1_500_000)).toEqual(["IN_FORCE", 10n]);
    expect(at(2_120_000)).toEqual(["LAST_ENDED", 10n]);
    expect(at(2_120_001)).toEqual([null, 77n]);
  });
});

describe("the value paid on an any-amount invoice", () => {
  const anyAmount = asking(BTC, null, 0n);

  it("is computed at the rate at activation, and rounded down", () => {
    // 0.00147059 BTC x 68,000.1 = 100.000267059; digits after the sixth decimal are cut off.
    const worth = totalValueOf({ expectedMicros: 0n, methods: [anyAmount], payments: [sent(BTC, 147_059n)] });
    expect(worth.micros).toBe(100_000_267n);
  });

  it("is at least one micro-unit if anything was received", () => {
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
    ["a rate finer than a micro-unit, for one coin", 10n ** 18n, 18, "0.00000012345", 0n],
    ["a rate finer than a micro-unit, for a hundred coins", 100n * 10n ** 18n, 18, "0.00000012345", 12n],
  ])("is computed for %s", (_what, units, decimals, rate, micros) => {
    expect(microsFor({ units, decimals, rate })).toBe(micros);
  });

  it("cannot be computed at a rate that is not decimal text", () => {
    expect(() => microsFor({ units: 1n, decimals: 6, rate: "cheap" })).toThrow(/rate/);
  });
});

describe("the amount still due", () => {
  test.each([
    ["is the full amount when nothing was received", 147_059n, E, E, 0n, 147_059n],
    ["is half, rounded up, when half was received", 147_059n, E, E, E / 2n, 73_530n],
    ["is one unit when all but a micro-unit was received", 147_059n, E, E, E - 1n, 1n],
    ["is 0 when all was received", 147_059n, E, E, E, 0n],
    ["is 0 when too much was received", 147_059n, E, E, 2n * E, 0n],
    ["is the whole new quote when half was received and the rest requoted", 73_530n, E / 2n, E, E / 2n, 73_530n],
    ["is half of the new quote when half of the rest was received", 73_530n, E / 2n, E, (3n * E) / 4n, 36_765n],
    ["is more than the quoted rest once half of the payment left the chain", 73_530n, E / 2n, E, E / 4n, 110_295n],
    ["is not known for an any-amount invoice, whose quotes have no amount", null, 0n, 0n, 0n, null],
    ["is not known without a quoted amount", null, E, E, 0n, null],
    ["is not known when it was never quoted", 147_059n, null, E, 0n, null],
  ])("%s", (_why, amountUnits, quoteForMicros, expectedMicros, receivedMicros, due) => {
    expect(amountDueUnits({ amountUnits, quoteForMicros, expectedMicros, receivedMicros })).toBe(due);
  });
});

describe("tolerances", () => {
  test.each([
    ["1 % of 100", E, 100, 5_000_000n, 1_000_000n],
    ["1 % of 1,000, limited to the maximum", 10n * E, 100, 5_000_000n, 5_000_000n],
    ["exactly the maximum", 5n * E, 100, 5_000_000n, 5_000_000n],
    ["rounded down", 199n, 100, 5_000_000n, 1n],
    ["none at 0 %", E, 0, 5_000_000n, 0n],
    ["none for an any-amount invoice", 0n, 100, 5_000_000n, 0n],
  ])("for underpayment: %s", (_why, expectedMicros, basisPoints, maxMicros, tolerance) => {
    expect(underpaidToleranceMicros({ expectedMicros, basisPoints, maxMicros })).toBe(tolerance);
  });

  test.each([
    ["5 % of 100", E, 500, 5_000_000n],
    ["100 %", E, 10_000, E],
    ["rounded down", 39n, 500, 1n],
  ])("for overpayment: %s", (_why, expectedMicros, basisPoints, tolerance) => {
    expect(overpaidToleranceMicros({ expectedMicros, basisPoints })).toBe(tolerance);
  });
});

describe("the value of any payments", () => {
  const expected = fc.bigInt(1n, 1_000_000_000_000n);
  const units = fc.bigInt(1n, 10n ** 24n);
  const amounts = fc.array(fc.bigInt(1n, 10n ** 24n), { minLength: 1, maxLength: 5 });

  it("is exactly E for exactly the quoted amount, in any number of payments", () => {
    fc.assert(
      fc.property(expected, amounts, (expectedMicros, parts) => {
        const sum = parts.reduce((a, b) => a + b);
        const method = asking(USDT, sum, expectedMicros);
        const worth = totalValueOf({
          expectedMicros,
          methods: [method],
          payments: parts.map((units) => sent(method, units)),
        });
        expect(worth).toEqual({ micros: expectedMicros, slackMicros: 0n, hasUnweighed: false });
      }),
      { numRuns: RUNS },
    );
  });

  it("reaches E when exactly the amount still due is paid with a different method", () => {
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
        const worth = totalValueOf({ expectedMicros, methods, payments: [...partial, sent(second, due)] });
        expect(worth.micros).toBeGreaterThanOrEqual(expectedMicros);
        expect(dueOf(a, worth.micros)).toBe(0n);
      }),
      { numRuns: RUNS },
    );
  });

  it("is exactly E when exactly the newly quoted rest is paid, at any price", () => {
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

  it("that are parts of one payment is at most the value of the whole payment, and lower by less than one micro-unit for each part", () => {
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

  it("is exactly E for parts with several methods that add up exactly to the quoted amount", () => {
    fc.assert(
      fc.property(
        expected,
        fc.array(fc.bigInt(1n, 1_000n), { minLength: 1, maxLength: 6 }),
        (expectedMicros, shares) => {
          // Each method quotes the same n units of its own coin, and receives a share of them.
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

  it("never falls when more payments arrive", () => {
    fc.assert(
      fc.property(expected, units, units, amounts, amounts, (expectedMicros, a, b, inFirst, inSecond) => {
        const methods = [asking(USDT, a, expectedMicros), asking(BTC, b, expectedMicros)];
        const payments = [...inFirst.map((part) => sent(USDT, part)), ...inSecond.map((part) => sent(BTC, part))];
        const worths = payments.map(
          (_, i) => totalValueOf({ expectedMicros, methods, payments: payments.slice(0, i + 1) }).micros,
        );
        expect(worths).toEqual(worths.toSorted((x, y) => (x < y ? -1 : 1)));
      }),
      { numRuns: RUNS },
    );
  });
});
