// The quote for the remainder of a partly paid invoice prices only a payment of exactly that amount (quotes.ts). quotes.test.ts tests all other
// quotes.
import fc from "fast-check";
import { expect, it, test } from "vitest";
import { parseQuotes, printQuotes, type Quote, quoteFor, withQuote } from "../../../../src/commerce/quotes/quotes.ts";
import { asked, E } from "../../../support/invoice-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const SLACK = 120_000;

function remainder(units: bigint, askedFromMs: number, lockedUntilMs: number): Quote {
  return { ...asked(units, askedFromMs, lockedUntilMs), forMicros: E / 2n, isRemainder: true };
}

const PRICE = asked(100n, 1_000_000, 2_000_000);
const REST = remainder(50n, 1_500_000, 2_000_000);

test.each([
  ["exactly the remainder, once it was quoted", "EXACT_UNITS #2", [PRICE, REST], 50n, 1_500_001],
  ["the amount of the remainder, at the time of the partial payment", "IN_FORCE #1", [PRICE, REST], 50n, 1_500_000],
  ["the amount of the remainder, before it was quoted", "IN_FORCE #1", [PRICE, REST], 50n, 1_499_999],
  ["exactly the remainder, at the end of the slack", "EXACT_UNITS #2", [PRICE, REST], 50n, 2_000_000 + SLACK],
  ["exactly the remainder, after the slack", "market", [PRICE, REST], 50n, 2_000_001 + SLACK],
  ["another amount, after the remainder was quoted", "IN_FORCE #1", [PRICE, REST], 7n, 1_500_001],
  ["another amount, after the lock", "LAST_ENDED #1", [PRICE, REST], 7n, 2_000_001],
  ["the full price, long after the remainder was quoted", "EXACT_UNITS #1", [PRICE, REST], 100n, 1_990_000],
  ["a remainder when no price was quoted", "market", [REST], 50n, 1_500_000],
] as const)("for a payment of %s, the price comes from %s", (_why, expected, quotes, amountUnits, atMs) => {
  const by = quoteFor({ amountUnits, atMs }, quotes, SLACK);
  expect(by === undefined ? "market" : `${by.rule} #${[...quotes].indexOf(by.quote) + 1}`).toBe(expected);
});

it("a quote for a remainder never changes how payments of other amounts are priced", () => {
  const moment = fc.integer({ min: 500_000, max: 3_500_000 });
  const rests = fc.array(
    fc
      .tuple(fc.bigInt(50n, 60n), moment, fc.nat({ max: 500_000 }))
      .map(([u, from, ms]) => remainder(u, from, from + ms)),
    { maxLength: 4 },
  );
  const prices = [PRICE, asked(110n, 2_000_001, 2_400_000), asked(100n, 3_000_000, 3_100_000)];
  fc.assert(
    fc.property(rests, moment, fc.constantFrom(7n, 100n, 110n), (others, atMs, amountUnits) => {
      const all = [...prices, ...others].toSorted((a, b) => a.askedFromMs - b.askedFromMs);
      const payment = { amountUnits, atMs };
      expect(quoteFor(payment, all, SLACK)).toEqual(quoteFor(payment, prices, SLACK));
    }),
    { numRuns: RUNS },
  );
});

it("a repeated quote extends the last quote of its kind, for the price or for the remainder", () => {
  const price = { ...PRICE, askedFromMs: 2_000_001, lockedUntilMs: 3_000_000 };
  const rest = { ...REST, askedFromMs: 2_000_001, lockedUntilMs: 3_000_000 };
  expect(withQuote([PRICE, REST], price)).toEqual([{ ...PRICE, lockedUntilMs: 3_000_000 }, REST]);
  expect(withQuote([PRICE, REST], rest)).toEqual([PRICE, { ...REST, lockedUntilMs: 3_000_000 }]);
  expect(withQuote([REST, PRICE], rest)).toEqual([{ ...REST, lockedUntilMs: 3_000_000 }, PRICE]);
  const { isRemainder, ...same } = REST;
  expect(withQuote([PRICE, REST], same)).toEqual([PRICE, REST, same]);
});

it("a stored quote for a remainder is read back as such a quote", () => {
  expect(parseQuotes(printQuotes([PRICE, REST]))).toEqual([PRICE, REST]);
});
