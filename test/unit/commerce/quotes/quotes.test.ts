import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  parseQuote,
  parseQuotes,
  printQuote,
  printQuotes,
  type Quote,
  quoteFor,
  quoteSlackMs,
  withQuote,
} from "../../../../src/commerce/quotes/quotes.ts";
import { asked, E, quoteOf } from "../../../support/invoice-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const SLACK = 120_000;
/** A quote requested this long after the end of a lock is a millisecond too late to extend it. */
const GAP = 120_001;

/** The rule that applies, and the number of its quote in the history; "market" if no quote applies. */
function weighedBy(quotes: readonly Quote[], amountUnits: bigint, atMs: number, slackMs = SLACK): string {
  const by = quoteFor({ amountUnits, atMs }, quotes, slackMs);
  return by === undefined ? "market" : `${by.rule} #${quotes.indexOf(by.quote) + 1}`;
}

describe("the quote that prices a payment", () => {
  /** Two quotes with a long gap between them. */
  const APART = [asked(100n, 1_000_000, 2_000_000), asked(110n, 3_000_000, 4_000_000)];
  /** The second quote is requested in the middle of the first one's lock. */
  const CUT = [asked(100n, 1_000_000, 2_000_000), asked(120n, 1_500_000, 2_500_000)];
  const SOON_AGAIN = [asked(100n, 1_000_000, 2_000_000), asked(100n, 2_150_000, 3_000_000)];
  const THERE_AND_BACK = [...CUT, asked(100n, 1_600_000, 2_500_000)];
  const ANY_AMOUNT = [asked(null, 1_000_000, 2_000_000)];
  const OTHER = 7n;

  const cases: [why: string, by: string, readonly Quote[], amountUnits: bigint, atMs: number][] = [
    ["any amount, without any quote", "market", [], 100n, 1_000_000],
    ["an unquoted amount, at a quote's first millisecond", "IN_FORCE #1", APART, OTHER, 1_000_000],
    ["an unquoted amount, at the last millisecond of the lock", "IN_FORCE #1", APART, OTHER, 2_000_000],
    ["an unquoted amount, a millisecond after the lock", "LAST_ENDED #1", APART, OTHER, 2_000_001],
    ["an unquoted amount, at the end of the slack", "LAST_ENDED #1", APART, OTHER, 2_000_000 + SLACK],
    ["an unquoted amount, a millisecond after the slack", "market", APART, OTHER, 2_000_001 + SLACK],
    ["an unquoted amount, just before the next quote is requested", "market", APART, OTHER, 2_999_999],
    ["an unquoted amount, once the next quote is requested", "IN_FORCE #2", APART, OTHER, 3_000_000],
    ["an unquoted amount, long after all quotes", "market", APART, OTHER, 9_000_000],
    ["an unquoted amount, just before the first quote", "IN_FORCE #1", APART, OTHER, 999_999],
    ["an unquoted amount, at time 0", "IN_FORCE #1", APART, OTHER, 0],
    ["the first amount, during its lock", "EXACT_UNITS #1", APART, 100n, 1_500_000],
    ["the first amount, at the start of the slack before it", "EXACT_UNITS #1", APART, 100n, 1_000_000 - SLACK],
    ["the first amount, a millisecond before the slack", "IN_FORCE #1", APART, 100n, 999_999 - SLACK],
    ["the first amount, at the end of the slack after its lock", "EXACT_UNITS #1", APART, 100n, 2_000_000 + SLACK],
    ["the first amount, a millisecond after the slack", "market", APART, 100n, 2_000_001 + SLACK],
    ["the first amount, once the second is quoted", "IN_FORCE #2", APART, 100n, 3_000_000],
    ["the second amount, at the start of the slack before it", "EXACT_UNITS #2", APART, 110n, 3_000_000 - SLACK],
    ["the second amount, a millisecond before the slack", "market", APART, 110n, 2_999_999 - SLACK],
    ["the second amount, while the first is locked", "IN_FORCE #1", APART, 110n, 1_500_000],
    ["the second amount, before both locks", "IN_FORCE #1", APART, 110n, 0],
    ["an unquoted amount, until the next quote ends the lock", "IN_FORCE #1", CUT, OTHER, 1_499_999],
    ["an unquoted amount, from the next quote on", "IN_FORCE #2", CUT, OTHER, 1_500_000],
    ["a replaced amount, to the end of the slack", "EXACT_UNITS #1", CUT, 100n, 1_499_999 + SLACK],
    ["a replaced amount, after the slack but during its old lock", "IN_FORCE #2", CUT, 100n, 1_500_000 + SLACK],
    ["a replaced amount, after both locks", "LAST_ENDED #2", CUT, 100n, 2_500_001],
    ["the replacing amount, at the start of the slack before it", "EXACT_UNITS #2", CUT, 120n, 1_500_000 - SLACK],
    ["the replacing amount, a millisecond before the slack", "IN_FORCE #1", CUT, 120n, 1_499_999 - SLACK],
    ["an amount quoted twice, between the two locks", "EXACT_UNITS #1", SOON_AGAIN, 100n, 2_100_000],
    ["an amount quoted twice, past the slack of the first", "EXACT_UNITS #2", SOON_AGAIN, 100n, 2_000_001 + SLACK],
    ["an amount quoted twice, during the second lock", "EXACT_UNITS #2", SOON_AGAIN, 100n, 2_150_000],
    ["an amount quoted again, just before its second quote", "EXACT_UNITS #1", THERE_AND_BACK, 100n, 1_599_999],
    ["an amount quoted again, from its second quote on", "EXACT_UNITS #3", THERE_AND_BACK, 100n, 1_600_000],
    ["any amount, for a quote without an amount", "IN_FORCE #1", ANY_AMOUNT, 100n, 1_500_000],
    ["any amount, after the lock of a quote without an amount", "LAST_ENDED #1", ANY_AMOUNT, 100n, 2_000_000 + SLACK],
    ["any amount, after the slack of a quote without an amount", "market", ANY_AMOUNT, 100n, 2_000_001 + SLACK],
  ];

  test.each(cases)("of %s: %s", (_why, expected, quotes, amountUnits, atMs) => {
    expect(weighedBy(quotes, amountUnits, atMs)).toBe(expected);
  });

  test.each([
    [2, 120_000],
    [60, 120_000],
    [61, 122_000],
    [600, 1_200_000],
  ])("applies, on a network with a block every %i s, for %i ms before and after its lock", (blockSeconds, slackMs) => {
    expect(quoteSlackMs({ blockSeconds })).toBe(slackMs);
  });
});

const step = fc.record({
  afterMs: fc.oneof(fc.nat({ max: 400_000 }), fc.constantFrom(0, 1, SLACK, SLACK + 1)),
  lockMs: fc.oneof(fc.nat({ max: 400_000 }), fc.constantFrom(0, 60_000)),
  amountUnits: fc.bigInt(1n, 4n),
  forMicros: fc.constantFrom(E, E / 2n),
});
const slack = fc.constantFrom(SLACK, 122_000, 1_200_000);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Quotes in the order of their requests. `isOrdered`: no lock ends after the lock of a later quote. */
function historyOf(steps: readonly Step[], isOrdered = false): readonly Quote[] {
  let askedFromMs = 2_000_000;
  let lockedUntilMs = 0;
  return steps.map(({ afterMs, lockMs, amountUnits, forMicros }) => {
    askedFromMs += afterMs;
    lockedUntilMs = Math.max(askedFromMs + lockMs, isOrdered ? lockedUntilMs : 0);
    return quoteOf({ amountUnits, forMicros, askedFromMs, lockedUntilMs });
  });
}

const steps = fc.array(step, { minLength: 1, maxLength: 6 });
const histories = steps.map((each) => historyOf(each));
/** Any time, and the times near the start and the end of a quote. */
function momentsOf(quotes: readonly Quote[], slackMs: number): fc.Arbitrary<number> {
  const edges = quotes.flatMap(({ askedFromMs, lockedUntilMs }) => [askedFromMs, lockedUntilMs]);
  const near = [-slackMs - 1, -slackMs, -1, 0, 1, slackMs - 1, slackMs, slackMs + 1];
  return fc.oneof(
    fc.tuple(fc.constantFrom(...edges), fc.constantFrom(...near)).map(([edge, by]) => edge + by),
    fc.integer({ min: 500_000, max: Math.max(...edges) + 1_500_000 }),
  );
}

/** A history of quotes, and the time and amount of a payment. */
function placesIn(of: fc.Arbitrary<readonly Quote[]>) {
  return fc.tuple(of, slack).chain(([quotes, slackMs]) =>
    fc.record({
      quotes: fc.constant(quotes),
      slackMs: fc.constant(slackMs),
      atMs: momentsOf(quotes, slackMs),
      amountUnits: fc.bigInt(1n, 5n),
    }),
  );
}

/** The first and the last time at which a quote was in force. */
function spanOf(quotes: readonly Quote[], n: number) {
  const { askedFromMs = 0, lockedUntilMs = 0 } = quotes[n] ?? {};
  return { fromMs: askedFromMs, toMs: Math.min(lockedUntilMs, (quotes[n + 1]?.askedFromMs ?? Infinity) - 1) };
}

function isTouched(quotes: readonly Quote[], n: number, { atMs, slackMs }: { atMs: number; slackMs: number }) {
  const { fromMs, toMs } = spanOf(quotes, n);
  return fromMs - slackMs <= atMs && atMs <= toMs + slackMs;
}

describe("pricing payments in any history of quotes", () => {
  it("uses the quote of a unique amount from the slack before the quote to the slack after it, and not a millisecond longer", () => {
    const distinct = steps.map((all) => historyOf(all.map((each, n) => ({ ...each, amountUnits: 10n + BigInt(n) }))));
    fc.assert(
      fc.property(placesIn(distinct), fc.nat(), ({ quotes, slackMs, atMs }, pick) => {
        const n = pick % quotes.length;
        const by = weighedBy(quotes, 10n + BigInt(n), atMs, slackMs);
        expect(by === `EXACT_UNITS #${n + 1}`).toBe(isTouched(quotes, n, { atMs, slackMs }));
        expect(by.startsWith("EXACT_UNITS")).toBe(isTouched(quotes, n, { atMs, slackMs }));
      }),
      { numRuns: RUNS },
    );
  });

  it("uses the last quote requested before the payment for an unquoted amount, until the end of the slack after the quote's lock", () => {
    fc.assert(
      fc.property(placesIn(histories), ({ quotes, slackMs, atMs }) => {
        const n = quotes.findLastIndex(({ askedFromMs }) => askedFromMs <= atMs);
        const sinceMs = atMs - (quotes[n]?.lockedUntilMs ?? Infinity);
        const rule = sinceMs <= 0 ? "IN_FORCE" : "LAST_ENDED";
        const expected = sinceMs > slackMs ? "market" : `${rule} #${Math.max(n, 0) + 1}`;
        expect(weighedBy(quotes, 99n, atMs, slackMs)).toBe(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it("prefers, among several quotes for one amount, the quote in force, then the last ended, then the next", () => {
    fc.assert(
      fc.property(placesIn(histories), ({ quotes, slackMs, atMs, amountUnits }) => {
        const meant = [...quotes.keys()].filter(
          (n) => quotes[n]?.amountUnits === amountUnits && isTouched(quotes, n, { atMs, slackMs }),
        );
        const isNow = (n: number) => spanOf(quotes, n).fromMs <= atMs && atMs <= spanOf(quotes, n).toMs;
        const isOver = (n: number) => spanOf(quotes, n).toMs < atMs;
        const best = meant.find(isNow) ?? meant.findLast(isOver) ?? meant[0];
        const by = weighedBy(quotes, amountUnits, atMs, slackMs);
        if (best === undefined) expect(by).not.toContain("EXACT_UNITS");
        else expect(by).toBe(`EXACT_UNITS #${best + 1}`);
      }),
      { numRuns: RUNS },
    );
  });

  it("does not depend on quotes that were requested more than the slack after the payment", () => {
    fc.assert(
      fc.property(placesIn(histories), ({ quotes, slackMs, atMs, amountUnits }) => {
        const known = quotes.filter(({ askedFromMs }, n) => n === 0 || askedFromMs - slackMs <= atMs);
        const payment = { amountUnits, atMs };
        expect(quoteFor(payment, quotes, slackMs)).toEqual(quoteFor(payment, known, slackMs));
      }),
      { numRuns: RUNS },
    );
  });

  it("depends only on the first quote and on quotes whose period, extended by the slack, contains the payment's time", () => {
    const ordered = steps.map((each) => historyOf(each, true));
    fc.assert(
      fc.property(placesIn(ordered), ({ quotes, slackMs, atMs, amountUnits }) => {
        const near = quotes.filter((_, n) => n === 0 || isTouched(quotes, n, { atMs, slackMs }));
        const payment = { amountUnits, atMs };
        expect(quoteFor(payment, near, slackMs)).toEqual(quoteFor(payment, quotes, slackMs));
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a quote that is requested again", () => {
  const last = asked(100n, 1_000_000, 2_000_000);
  const again = (askedFromMs: number, changes: Partial<Quote> = {}) =>
    quoteOf({ amountUnits: 100n, askedFromMs, lockedUntilMs: askedFromMs + 1_000_000, ...changes });

  test.each([
    ["extends its lock when requested during the lock", 1_500_000, {}, [[1_000_000, 2_500_000]]],
    ["extends its lock when requested at the end of the lock", 2_000_000, {}, [[1_000_000, 3_000_000]]],
    ["extends its lock when requested 120 s after its end", 2_000_000 + SLACK, {}, [[1_000_000, 3_000_000 + SLACK]]],
    [
      "is a new quote when requested more than 120 s after the end of the lock",
      2_000_000 + GAP,
      {},
      [
        [1_000_000, 2_000_000],
        [2_000_000 + GAP, 3_000_000 + GAP],
      ],
    ],
    ["extends its lock at another rate", 2_000_000, { rate: "2" }, [[1_000_000, 3_000_000]]],
    [
      "is a new quote for another amount",
      2_000_000,
      { amountUnits: 101n },
      [
        [1_000_000, 2_000_000],
        [2_000_000, 3_000_000],
      ],
    ],
    [
      "is a new quote for no fixed amount",
      2_000_000,
      { amountUnits: null },
      [
        [1_000_000, 2_000_000],
        [2_000_000, 3_000_000],
      ],
    ],
    [
      "is a new quote for the rest of the price",
      2_000_000,
      { forMicros: E / 2n },
      [
        [1_000_000, 2_000_000],
        [2_000_000, 3_000_000],
      ],
    ],
    [
      "does not shorten its lock when requested for a shorter time",
      1_500_000,
      { lockedUntilMs: 1_600_000 },
      [[1_000_000, 2_000_000]],
    ],
  ] as const)("%s", (_when, askedFromMs, changes, spans) => {
    const quotes = withQuote([last], again(askedFromMs, changes));
    expect(quotes.map((quote) => [quote.askedFromMs, quote.lockedUntilMs])).toEqual(spans);
  });

  it("is compared with the last quote only", () => {
    const rest = asked(40n, 1_200_000, 2_000_000);
    expect(withQuote([last, rest], again(1_300_000))).toEqual([last, rest, again(1_300_000)]);
    expect(withQuote([], last)).toEqual([last]);
  });

  it("is a new quote when the rate changes on an any-amount invoice, where only the rate matters", () => {
    const before = asked(null, 1_000_000, 2_000_000);
    const after = again(2_000_000, { amountUnits: null, rate: "2" });
    expect(withQuote([before], after)).toEqual([before, after]);
    expect(withQuote([before], { ...after, rate: before.rate })).toHaveLength(1);
  });

  it("extends the last quote, or is added as a new quote if requested at least 120,001 ms after the last lock", () => {
    const sinceMs = fc.oneof(fc.integer({ min: -300_000, max: 300_000 }), fc.constantFrom(SLACK, GAP));
    fc.assert(
      fc.property(histories, sinceMs, fc.nat({ max: 400_000 }), (quotes, since, lockMs) => {
        const newest = quotes.at(-1) ?? quoteOf();
        const askedFromMs = Math.max(newest.askedFromMs, newest.lockedUntilMs + since);
        const next = { ...newest, askedFromMs, lockedUntilMs: askedFromMs + lockMs };
        const lockedUntilMs = Math.max(newest.lockedUntilMs, next.lockedUntilMs);
        const isLengthened = askedFromMs - newest.lockedUntilMs < GAP;
        const expected = isLengthened ? [...quotes.slice(0, -1), { ...newest, lockedUntilMs }] : [...quotes, next];
        expect(withQuote(quotes, next)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it("does not change how earlier payments are priced", () => {
    fc.assert(
      fc.property(placesIn(histories), fc.nat({ max: 500_000 }), fc.nat({ max: 400_000 }), (place, after, lockMs) => {
        const { quotes, slackMs, atMs, amountUnits } = place;
        const newest = quotes.at(-1) ?? quoteOf();
        const askedFromMs = Math.min(newest.askedFromMs + after, newest.lockedUntilMs + SLACK);
        fc.pre(atMs <= askedFromMs);
        const extended = withQuote(quotes, { ...newest, askedFromMs, lockedUntilMs: askedFromMs + lockMs });
        const [before, since] = [quotes, extended].map((each) => quoteFor({ amountUnits, atMs }, each, slackMs));
        expect(since?.quote.askedFromMs).toBe(before?.quote.askedFromMs);
        expect([since?.quote.amountUnits, since?.quote.forMicros]).toEqual([
          before?.quote.amountUnits,
          before?.quote.forMicros,
        ]);
        if (atMs <= newest.lockedUntilMs) expect(since?.rule).toBe(before?.rule);
        if (askedFromMs + lockMs <= newest.lockedUntilMs) expect(extended).toEqual(quotes);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the quote history of a method", () => {
  const KEPT = 240;
  const many = (length: number) =>
    Array.from({ length }, (_, n) => asked(BigInt(n + 1), n * 1_000_000, n * 1_000_000 + 1));
  const next = asked(9_999n, 999_000_000, 999_000_001);

  it("keeps 240 quotes: the newest, and the first, which shows when payments became possible", () => {
    const [first, second, third, ...rest] = many(KEPT);
    expect(withQuote(many(KEPT - 1), next)).toHaveLength(KEPT);
    expect(withQuote(many(KEPT), next)).toEqual([first, third, ...rest, next]);
    expect(withQuote(many(KEPT), next, (quote) => quote.amountUnits === 2n)).toEqual([first, second, ...rest, next]);
  });

  it("drops no quote that priced a payment, even beyond the limit", () => {
    expect(withQuote(many(300), next, () => true)).toEqual([...many(300), next]);
  });

  it("stays bounded however many quotes are added, and keeps the order, the newest and the used quotes", () => {
    const inputs = [fc.integer({ min: 200, max: 320 }), fc.uniqueArray(fc.nat({ max: 320 }))] as const;
    fc.assert(
      fc.property(...inputs, (length, numbers) => {
        const used = new Set(numbers.map((n) => BigInt(n + 1)));
        const isUsed = ({ amountUnits }: Quote) => amountUnits !== null && used.has(amountUnits);
        const all = many(length);
        const kept = all.reduce<readonly Quote[]>((quotes, quote) => withQuote(quotes, quote, isUsed), []);
        const forgotten = all.filter((quote) => !kept.includes(quote));
        expect(kept).toEqual(all.filter((quote) => kept.includes(quote)));
        expect(forgotten.filter(isUsed)).toEqual([]);
        expect(kept).toHaveLength(Math.min(length, KEPT));
        // Every unused quote that is kept must be newer than all dropped ones.
        const oldest = kept.slice(1).find((quote) => !isUsed(quote))?.askedFromMs ?? Infinity;
        expect(forgotten.every(({ askedFromMs }) => askedFromMs < oldest)).toBe(true);
      }),
      { numRuns: Math.min(RUNS, 200) },
    );
  });
});

describe("a stored quote", () => {
  const anyQuote: fc.Arbitrary<Quote> = fc.record({
    amountUnits: fc.option(fc.bigInt(1n, 10n ** 30n)),
    rate: fc.constantFrom("1", "68000.1", "0.00000012345"),
    forMicros: fc.bigInt(0n, 10n ** 18n),
    askedFromMs: fc.nat(),
    lockedUntilMs: fc.maxSafeNat(),
  });

  it("is read back unchanged, whether it is stored alone or in a list", () => {
    fc.assert(
      fc.property(fc.array(anyQuote, { maxLength: 5 }), (quotes) => {
        expect(parseQuotes(printQuotes(quotes))).toEqual(quotes);
        expect(quotes.map((quote) => parseQuote(printQuote(quote)))).toEqual(quotes);
      }),
      { numRuns: RUNS },
    );
  });

  it("always has the same text, which differs from every other quote's, because a payment refers to its quote by this text", () => {
    fc.assert(
      fc.property(anyQuote, anyQuote, (one, other) => {
        const [text] = parseQuotes(printQuotes([one])).map(printQuote);
        expect(text).toBe(printQuote(one));
        const isSame = Object.entries(one).every(([name, value]) =>
          Object.entries(other).some((each) => each[0] === name && each[1] === value),
        );
        expect(printQuote(one) === printQuote(other)).toBe(isSame);
      }),
      { numRuns: RUNS },
    );
  });

  it("is plain JSON in an array that may be empty", () => {
    expect(parseQuotes("[]")).toEqual([]);
    expect(JSON.parse(printQuotes([asked(null, 1, 2)]))).toEqual([
      { amountUnits: null, rate: "1", forMicros: `${E}`, askedFromMs: 1, lockedUntilMs: 2 },
    ]);
  });
});
