// The amount reserved for what a part left due weighs who sends exactly that, and nobody else (quotes.ts). quotes.test.ts has all other quotes.
import fc from "fast-check";
import { expect, it, test } from "vitest";
import { parseQuotes, printQuotes, type Quote, quoteFor, withQuote } from "../../../../src/commerce/invoices/quotes.ts";
import { asked, E } from "../../../support/invoice-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const SLACK = 120_000;

function remainder(units: bigint, askedFromMs: number, lockedUntilMs: number): Quote {
  return { ...asked(units, askedFromMs, lockedUntilMs), forMicros: E / 2n, isRemainder: true };
}

const PRICE = asked(100n, 1_000_000, 2_000_000);
const REST = remainder(50n, 1_500_000, 2_000_000);

test.each([
  ["exactly the rest, once it was asked", [PRICE, REST], 50n, 1_500_001, "EXACT_UNITS #2"],
  ["as much as the rest, as the part that leaves it", [PRICE, REST], 50n, 1_500_000, "IN_FORCE #1"],
  ["as much as the rest, before it was asked", [PRICE, REST], 50n, 1_499_999, "IN_FORCE #1"],
  ["exactly the rest, the slack after", [PRICE, REST], 50n, 2_000_000 + SLACK, "EXACT_UNITS #2"],
  ["exactly the rest, later still", [PRICE, REST], 50n, 2_000_001 + SLACK, "market"],
  ["another amount after the rest was asked", [PRICE, REST], 7n, 1_500_001, "IN_FORCE #1"],
  ["another amount after the lock", [PRICE, REST], 7n, 2_000_001, "LAST_ENDED #1"],
  ["the price, long after the rest was asked", [PRICE, REST], 100n, 1_990_000, "EXACT_UNITS #1"],
  ["a rest of which no price is known", [REST], 50n, 1_500_000, "market"],
] as const)("%s", (_why, quotes, amountUnits, atMs, expected) => {
  const by = quoteFor({ amountUnits, atMs }, quotes, SLACK);
  expect(by === undefined ? "market" : `${by.rule} #${[...quotes].indexOf(by.quote) + 1}`).toBe(expected);
});

it("a rest that is asked decides nothing about other amounts, whenever the part was read", () => {
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

it("the price asked again lengthens the price, and the rest the rest, each past the other", () => {
  const price = { ...PRICE, askedFromMs: 2_000_001, lockedUntilMs: 3_000_000 };
  const rest = { ...REST, askedFromMs: 2_000_001, lockedUntilMs: 3_000_000 };
  expect(withQuote([PRICE, REST], price)).toEqual([{ ...PRICE, lockedUntilMs: 3_000_000 }, REST]);
  expect(withQuote([PRICE, REST], rest)).toEqual([PRICE, { ...REST, lockedUntilMs: 3_000_000 }]);
  expect(withQuote([REST, PRICE], rest)).toEqual([{ ...REST, lockedUntilMs: 3_000_000 }, PRICE]);
  const { isRemainder, ...same } = REST;
  expect(withQuote([PRICE, REST], same)).toEqual([PRICE, REST, same]);
});

it("comes back from its row as a rest", () => {
  expect(parseQuotes(printQuotes([PRICE, REST]))).toEqual([PRICE, REST]);
});
