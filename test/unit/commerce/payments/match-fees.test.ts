// An exchange deducts its fee from a payment, so the payer of one order may send about the price of a cheaper one. In that case the cheaper order is
// not credited.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RUNS } from "../../../support/property-runs.ts";
import { dearOf, held, match, type Offer, offerOf, pricedAt } from "./match-offers.ts";

const dollars = (amount: number) => BigInt(Math.round(amount * 1_000_000));
const orderOf = (n: number, price: number, changes: Partial<Offer> = {}) =>
  pricedAt(n, dollars(price), { held: [held(dollars(price))], ...changes });

/** The number of the credited order, or the numbers of the orders that may be meant. */
function outcomeOf(paid: bigint, offers: readonly Offer[]) {
  const found = match(paid, offers);
  if (found.kind === "credited") return Number(found.candidate.invoiceId.slice(4));
  return found.refused
    .filter(({ reason }) => reason === "AMBIGUOUS")
    .map(({ invoiceId }) => Number(invoiceId.slice(4)));
}

const CHEAP = orderOf(1, 100.03);

describe("an amount within the tolerance of one order", () => {
  it.each<[string, number, readonly Offer[], number | readonly number[]]>([
    ["is nobody's if a dearer order less a fee costs as much", 100.5, [CHEAP, orderOf(2, 103.37)], [1, 2]],
    ["is nobody's if a fee of a quarter explains it", 102.03, [CHEAP, orderOf(2, 136.04)], [1, 2]],
    ["is credited if a fee would have to be more than a quarter", 102.03, [CHEAP, orderOf(2, 136.05)], 1],
    ["is credited if the dearer order has ended", 100.5, [CHEAP, orderOf(2, 103.37, { isOpen: false })], 1],
    ["is credited beside cheaper orders", 100.5, [CHEAP, orderOf(2, 80)], 1],
    ["is credited if it is no more than was asked, beside dearer orders", 99.77, [CHEAP, orderOf(2, 103.37)], 1],
    ["is nobody's if it is a dearer order's amount less a round fee", 99.37, [CHEAP, orderOf(2, 103.37)], [1, 2]],
    ["is nobody's if it is half of what a dearer order asked for", 99.77, [CHEAP, orderOf(2, 199.54)], [1, 2]],
    ["is nobody's if it is twice what a cheaper order asked for", 99.78, [CHEAP, orderOf(2, 49.89)], [1, 2]],
    [
      "is nobody's if the rest that another order asks for, less a fee, is as much",
      100.5,
      [CHEAP, orderOf(2, 180, { held: [held(dollars(102.11))] })],
      [1, 2],
    ],
    [
      "is credited if the other order no longer asked for the amount that would explain it",
      100.5,
      [CHEAP, orderOf(2, 180, { held: [held(dollars(180)), held(dollars(102.11), { untilMs: 4_000 })] })],
      1,
    ],
    ["is nobody's if two dearer orders explain it", 100.5, [CHEAP, orderOf(2, 103.37), orderOf(3, 120)], [1, 2, 3]],
  ])("%s", (_, paid, offers, wanted) => {
    expect(outcomeOf(dollars(paid), offers)).toEqual(wanted);
    expect(outcomeOf(dollars(paid), offers.toReversed())).toEqual(wanted);
  });

  it("above the price is credited despite more expensive orders of merchants with less proof", () => {
    const proven = { ...CHEAP, rank: 1 } as const;
    expect(outcomeOf(dollars(100.5), [proven, orderOf(2, 103.37)])).toBe(1);
    expect(outcomeOf(dollars(100.5), [CHEAP, orderOf(2, 103.37, { rank: 1 })])).toEqual([1, 2]);
  });

  it("is credited if the more expensive order has no rate, unless that order's own amounts explain the payment", () => {
    const unpriced = { askedUnits: null };
    expect(outcomeOf(dollars(100.5), [CHEAP, orderOf(2, 103.37, unpriced)])).toEqual([1, 2]);
    expect(outcomeOf(dollars(100.5), [CHEAP, orderOf(2, 300, unpriced)])).toBe(1);
  });
});

it("no order is credited with more than its price if the payment is another open order's amount less a fee", () => {
  const anyPrice = fc.integer({ min: 2_000, max: 50_000 });
  fc.assert(
    fc.property(fc.uniqueArray(anyPrice, { minLength: 2, maxLength: 6 }), fc.nat(), fc.nat(), (prices, at, fee) => {
      const meant = prices[at % prices.length] ?? 0;
      // Any fee up to a quarter, round or not.
      const paid = BigInt(meant - (fee % (Math.floor(meant / 4) + 1))) * 10_000n;
      const offers = prices.map((cents, n) => orderOf(n, cents / 100));
      const found = match(paid, [...offers, dearOf(9)]);
      if (found.kind === "unmatched" || found.matchedBy === "EXACT_AMOUNT") return;
      const { expectedMicros, invoiceId } = found.candidate;
      const isMeant = invoiceId === offers[at % prices.length]?.invoiceId;
      expect(isMeant || paid <= expectedMicros).toBe(true);
    }),
    { numRuns: RUNS },
  );
});

it("an amount within the tolerance is credited if there is only one order", () => {
  expect(outcomeOf(dollars(104), [offerOf(1)])).toBe(1);
});
