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
} from "../../../../src/commerce/invoices/quotes.ts";
import { asked, E, quoteOf } from "../../../support/invoice-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const SLACK = 120_000;
/** From the end of a lock, a millisecond too late to lengthen it. */
const GAP = 120_001;

/** The rule, and the number of the quote in the history; "market" where none may be meant. */
function weighedBy(quotes: readonly Quote[], amountUnits: bigint, atMs: number, slackMs = SLACK): string {
  const by = quoteFor({ amountUnits, atMs }, quotes, slackMs);
  return by === undefined ? "market" : `${by.rule} #${quotes.indexOf(by.quote) + 1}`;
}

describe("the quote that weighs a payment", () => {
  /** Nobody looked for a long time in between. */
  const APART = [asked(100n, 1_000_000, 2_000_000), asked(110n, 3_000_000, 4_000_000)];
  /** The second is asked in the middle of the first. */
  const CUT = [asked(100n, 1_000_000, 2_000_000), asked(120n, 1_500_000, 2_500_000)];
  const SOON_AGAIN = [asked(100n, 1_000_000, 2_000_000), asked(100n, 2_150_000, 3_000_000)];
  const THERE_AND_BACK = [...CUT, asked(100n, 1_600_000, 2_500_000)];
  const ANY_AMOUNT = [asked(null, 1_000_000, 2_000_000)];
  const OTHER = 7n;

  const cases: [string, readonly Quote[], amountUnits: bigint, atMs: number, string][] = [
    ["no quote at all", [], 100n, 1_000_000, "market"],
    ["another amount, from its first millisecond", APART, OTHER, 1_000_000, "IN_FORCE #1"],
    ["another amount, to the last of its lock", APART, OTHER, 2_000_000, "IN_FORCE #1"],
    ["another amount, a millisecond after the lock", APART, OTHER, 2_000_001, "LAST_ENDED #1"],
    ["another amount, at the end of the slack", APART, OTHER, 2_000_000 + SLACK, "LAST_ENDED #1"],
    ["another amount, a millisecond after the slack", APART, OTHER, 2_000_001 + SLACK, "market"],
    ["another amount, just before the next is asked", APART, OTHER, 2_999_999, "market"],
    ["another amount, once the next is asked", APART, OTHER, 3_000_000, "IN_FORCE #2"],
    ["another amount, long after all", APART, OTHER, 9_000_000, "market"],
    ["another amount, before the first", APART, OTHER, 999_999, "IN_FORCE #1"],
    ["another amount, at the beginning of time", APART, OTHER, 0, "IN_FORCE #1"],
    ["the first amount, in its time", APART, 100n, 1_500_000, "EXACT_UNITS #1"],
    ["the first amount, the slack before", APART, 100n, 1_000_000 - SLACK, "EXACT_UNITS #1"],
    ["the first amount, earlier still", APART, 100n, 999_999 - SLACK, "IN_FORCE #1"],
    ["the first amount, the slack after", APART, 100n, 2_000_000 + SLACK, "EXACT_UNITS #1"],
    ["the first amount, later still", APART, 100n, 2_000_001 + SLACK, "market"],
    ["the first amount, when the second is asked", APART, 100n, 3_000_000, "IN_FORCE #2"],
    ["the second amount, the slack before", APART, 110n, 3_000_000 - SLACK, "EXACT_UNITS #2"],
    ["the second amount, earlier still", APART, 110n, 2_999_999 - SLACK, "market"],
    ["the second amount, when the first was asked", APART, 110n, 1_500_000, "IN_FORCE #1"],
    ["the second amount, before the first", APART, 110n, 0, "IN_FORCE #1"],
    ["another amount, until the next quote ends the lock", CUT, OTHER, 1_499_999, "IN_FORCE #1"],
    ["another amount, from the next quote on", CUT, OTHER, 1_500_000, "IN_FORCE #2"],
    ["the amount before, to the slack after it was replaced", CUT, 100n, 1_499_999 + SLACK, "EXACT_UNITS #1"],
    ["the amount before, in what is left of its lock", CUT, 100n, 1_500_000 + SLACK, "IN_FORCE #2"],
    ["the amount before, after both", CUT, 100n, 2_500_001, "LAST_ENDED #2"],
    ["the next amount, the slack before it was asked", CUT, 120n, 1_500_000 - SLACK, "EXACT_UNITS #2"],
    ["the next amount, earlier still", CUT, 120n, 1_499_999 - SLACK, "IN_FORCE #1"],
    ["one amount twice, between: the one that ended", SOON_AGAIN, 100n, 2_100_000, "EXACT_UNITS #1"],
    ["one amount twice, past the slack of the first", SOON_AGAIN, 100n, 2_000_001 + SLACK, "EXACT_UNITS #2"],
    ["one amount twice, in the second", SOON_AGAIN, 100n, 2_150_000, "EXACT_UNITS #2"],
    ["one amount before and after another", THERE_AND_BACK, 100n, 1_599_999, "EXACT_UNITS #1"],
    ["one amount before and again in force", THERE_AND_BACK, 100n, 1_600_000, "EXACT_UNITS #3"],
    ["any amount", ANY_AMOUNT, 100n, 1_500_000, "IN_FORCE #1"],
    ["any amount, after the lock", ANY_AMOUNT, 100n, 2_000_000 + SLACK, "LAST_ENDED #1"],
    ["any amount, after the slack", ANY_AMOUNT, 100n, 2_000_001 + SLACK, "market"],
  ];

  test.each(cases)("%s", (_why, quotes, amountUnits, atMs, expected) => {
    expect(weighedBy(quotes, amountUnits, atMs)).toBe(expected);
  });

  test.each([
    [2, 120_000],
    [60, 120_000],
    [61, 122_000],
    [600, 1_200_000],
  ])("of a network with a block every %i s may be meant for %i ms around it", (blockSeconds, slackMs) => {
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

/** Quotes in the order in which they were asked. `isOrdered`: none is locked for longer than a later one. */
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
/** Any moment, and those at which something begins or ends. */
function momentsOf(quotes: readonly Quote[], slackMs: number): fc.Arbitrary<number> {
  const edges = quotes.flatMap(({ askedFromMs, lockedUntilMs }) => [askedFromMs, lockedUntilMs]);
  const near = [-slackMs - 1, -slackMs, -1, 0, 1, slackMs - 1, slackMs, slackMs + 1];
  return fc.oneof(
    fc.tuple(fc.constantFrom(...edges), fc.constantFrom(...near)).map(([edge, by]) => edge + by),
    fc.integer({ min: 500_000, max: Math.max(...edges) + 1_500_000 }),
  );
}

/** A history, and a payment somewhere around it. */
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

/** When a quote was in force, both ends inside. */
function spanOf(quotes: readonly Quote[], n: number) {
  const { askedFromMs = 0, lockedUntilMs = 0 } = quotes[n] ?? {};
  return { fromMs: askedFromMs, toMs: Math.min(lockedUntilMs, (quotes[n + 1]?.askedFromMs ?? Infinity) - 1) };
}

function isTouched(quotes: readonly Quote[], n: number, { atMs, slackMs }: { atMs: number; slackMs: number }) {
  const { fromMs, toMs } = spanOf(quotes, n);
  return fromMs - slackMs <= atMs && atMs <= toMs + slackMs;
}

describe("properties of weighing", () => {
  it("an amount of its own is honoured for the slack on both sides of its quote, and not a millisecond longer", () => {
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

  it("an amount that nobody asked is weighed by what was asked last before it, to the slack after its lock", () => {
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

  it("of several quotes for one amount it is the one in force, else the last that ended, else the next", () => {
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

  it("does not depend on what was asked later than the slack after the payment", () => {
    fc.assert(
      fc.property(placesIn(histories), ({ quotes, slackMs, atMs, amountUnits }) => {
        const known = quotes.filter(({ askedFromMs }, n) => n === 0 || askedFromMs - slackMs <= atMs);
        const payment = { amountUnits, atMs };
        expect(quoteFor(payment, quotes, slackMs)).toEqual(quoteFor(payment, known, slackMs));
      }),
      { numRuns: RUNS },
    );
  });

  it("depends on no quote but the first whose time, slack included, does not touch the payment's", () => {
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

describe("a quote that is asked again", () => {
  const last = asked(100n, 1_000_000, 2_000_000);
  const again = (askedFromMs: number, changes: Partial<Quote> = {}) =>
    quoteOf({ amountUnits: 100n, askedFromMs, lockedUntilMs: askedFromMs + 1_000_000, ...changes });

  test.each([
    ["within its lock", 1_500_000, {}, [[1_000_000, 2_500_000]]],
    ["at the end of its lock", 2_000_000, {}, [[1_000_000, 3_000_000]]],
    ["120 s after it", 2_000_000 + SLACK, {}, [[1_000_000, 3_000_000 + SLACK]]],
    [
      "a millisecond later",
      2_000_000 + GAP,
      {},
      [
        [1_000_000, 2_000_000],
        [2_000_000 + GAP, 3_000_000 + GAP],
      ],
    ],
    ["at another rate", 2_000_000, { rate: "2" }, [[1_000_000, 3_000_000]]],
    [
      "in other units",
      2_000_000,
      { amountUnits: 101n },
      [
        [1_000_000, 2_000_000],
        [2_000_000, 3_000_000],
      ],
    ],
    [
      "in no units",
      2_000_000,
      { amountUnits: null },
      [
        [1_000_000, 2_000_000],
        [2_000_000, 3_000_000],
      ],
    ],
    [
      "for the rest",
      2_000_000,
      { forMicros: E / 2n },
      [
        [1_000_000, 2_000_000],
        [2_000_000, 3_000_000],
      ],
    ],
    ["for a shorter time", 1_500_000, { lockedUntilMs: 1_600_000 }, [[1_000_000, 2_000_000]]],
  ] as const)("%s", (_when, askedFromMs, changes, spans) => {
    const quotes = withQuote([last], again(askedFromMs, changes));
    expect(quotes.map((quote) => [quote.askedFromMs, quote.lockedUntilMs])).toEqual(spans);
  });

  it("is compared with the last alone", () => {
    const rest = asked(40n, 1_200_000, 2_000_000);
    expect(withQuote([last, rest], again(1_300_000))).toEqual([last, rest, again(1_300_000)]);
    expect(withQuote([], last)).toEqual([last]);
  });

  it("for an any-amount invoice, at another rate is another quote: there the rate is all that weighs", () => {
    const before = asked(null, 1_000_000, 2_000_000);
    const after = again(2_000_000, { amountUnits: null, rate: "2" });
    expect(withQuote([before], after)).toEqual([before, after]);
    expect(withQuote([before], { ...after, rate: before.rate })).toHaveLength(1);
  });

  it("lengthens what stood, or stands beside it from 120,001 ms on, whatever came before", () => {
    const sinceMs = fc.oneof(fc.integer({ min: -300_000, max: 300_000 }), fc.constantFrom(SLACK, GAP));
    fc.assert(
      fc.property(histories, sinceMs, fc.nat({ max: 400_000 }), (quotes, since, lockMs) => {
        const stood = quotes.at(-1) ?? quoteOf();
        const askedFromMs = Math.max(stood.askedFromMs, stood.lockedUntilMs + since);
        const next = { ...stood, askedFromMs, lockedUntilMs: askedFromMs + lockMs };
        const lockedUntilMs = Math.max(stood.lockedUntilMs, next.lockedUntilMs);
        const isLengthened = askedFromMs - stood.lockedUntilMs < GAP;
        const expected = isLengthened ? [...quotes.slice(0, -1), { ...stood, lockedUntilMs }] : [...quotes, next];
        expect(withQuote(quotes, next)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it("weighs everything up to that moment as before: one more look changes nothing", () => {
    fc.assert(
      fc.property(placesIn(histories), fc.nat({ max: 500_000 }), fc.nat({ max: 400_000 }), (place, after, lockMs) => {
        const { quotes, slackMs, atMs, amountUnits } = place;
        const stood = quotes.at(-1) ?? quoteOf();
        const askedFromMs = Math.min(stood.askedFromMs + after, stood.lockedUntilMs + SLACK);
        fc.pre(atMs <= askedFromMs);
        const looked = withQuote(quotes, { ...stood, askedFromMs, lockedUntilMs: askedFromMs + lockMs });
        const [before, since] = [quotes, looked].map((each) => quoteFor({ amountUnits, atMs }, each, slackMs));
        expect(since?.quote.askedFromMs).toBe(before?.quote.askedFromMs);
        expect([since?.quote.amountUnits, since?.quote.forMicros]).toEqual([
          before?.quote.amountUnits,
          before?.quote.forMicros,
        ]);
        if (atMs <= stood.lockedUntilMs) expect(since?.rule).toBe(before?.rule);
        if (askedFromMs + lockMs <= stood.lockedUntilMs) expect(looked).toEqual(quotes);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the history of a method", () => {
  const KEPT = 240;
  const many = (length: number) =>
    Array.from({ length }, (_, n) => asked(BigInt(n + 1), n * 1_000_000, n * 1_000_000 + 1));
  const next = asked(9_999n, 999_000_000, 999_000_001);

  it("keeps 240 quotes: the first, which says since when anything can have been paid, and the newest", () => {
    const [first, second, third, ...rest] = many(KEPT);
    expect(withQuote(many(KEPT - 1), next)).toHaveLength(KEPT);
    expect(withQuote(many(KEPT), next)).toEqual([first, third, ...rest, next]);
    expect(withQuote(many(KEPT), next, (quote) => quote.amountUnits === 2n)).toEqual([first, second, ...rest, next]);
  });

  it("forgets no quote with money on it, even beyond the bound", () => {
    expect(withQuote(many(300), next, () => true)).toEqual([...many(300), next]);
  });

  it("stays bounded while it grows, keeps the order, the newest and what is used", () => {
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
        // Nothing unused that is kept is older than what was forgotten.
        const oldest = kept.slice(1).find((quote) => !isUsed(quote))?.askedFromMs ?? Infinity;
        expect(forgotten.every(({ askedFromMs }) => askedFromMs < oldest)).toBe(true);
      }),
      { numRuns: Math.min(RUNS, 200) },
    );
  });
});

describe("a quote in its row", () => {
  const anyQuote: fc.Arbitrary<Quote> = fc.record({
    amountUnits: fc.option(fc.bigInt(1n, 10n ** 30n)),
    rate: fc.constantFrom("1", "68000.1", "0.00000012345"),
    forMicros: fc.bigInt(0n, 10n ** 18n),
    askedFromMs: fc.nat(),
    lockedUntilMs: fc.maxSafeNat(),
  });

  it("comes back as it was, alone and among others", () => {
    fc.assert(
      fc.property(fc.array(anyQuote, { maxLength: 5 }), (quotes) => {
        expect(parseQuotes(printQuotes(quotes))).toEqual(quotes);
        expect(quotes.map((quote) => parseQuote(printQuote(quote)))).toEqual(quotes);
      }),
      { numRuns: RUNS },
    );
  });

  it("prints the same however often it is read, and as no other: that is how a payment says which weighs it", () => {
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

  it("is plain JSON, an array that may be empty", () => {
    expect(parseQuotes("[]")).toEqual([]);
    expect(JSON.parse(printQuotes([asked(null, 1, 2)]))).toEqual([
      { amountUnits: null, rate: "1", forMicros: `${E}`, askedFromMs: 1, lockedUntilMs: 2 },
    ]);
  });
});
