import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Match } from "../../../../src/commerce/payments/match.ts";
import { RUNS } from "../../../support/property-runs.ts";
import {
  AT,
  candidateOf,
  dearOf,
  held,
  heldBy,
  invoiceId,
  isHeldAt,
  match,
  type Offer,
  offerOf,
  openOf,
  pricedAt,
} from "./match-offers.ts";

const CENTS = 10_000n;
/** A round fee: one digit, or two digits that end in 5, followed by zeros. */
const ROUND_FEE = /^[1-9]?5?0*$/;

/** `<invoice> by <rule>`, or the refused invoices with the reasons. */
function outcomeOf(found: Match): string {
  if (found.kind === "unmatched") {
    return found.refused.map((each) => `${Number(each.invoiceId.slice(4))} ${each.reason}`).join(", ");
  }
  const review = found.needsReview ? ", for review" : "";
  return `${Number(found.candidate.invoiceId.slice(4))} by ${found.matchedBy}${review}`;
}

const OVER = { isOpen: false };

const cases: [string, bigint, readonly Offer[], string][] = [
  // Rule 1
  ["credits an exact amount to its invoice", 99_999_998n, [offerOf(1), offerOf(2), offerOf(3)], "2 by EXACT_AMOUNT"],
  [
    "credits an amount of an older quote as exact",
    42n,
    [offerOf(1, { held: [held(42n), heldBy(1)] }), offerOf(2)],
    "1 by EXACT_AMOUNT",
  ],
  [
    "credits the amount reserved for a remainder as exact",
    42n,
    [offerOf(1, { held: [heldBy(1), held(42n, { fromMs: 2_000 })] })],
    "1 by EXACT_AMOUNT",
  ],
  [
    "credits an exact amount even without a rate",
    99_999_999n,
    [offerOf(1, { askedUnits: null }), offerOf(2)],
    "1 by EXACT_AMOUNT",
  ],
  ["credits an ended invoice with its exact amount", 99_999_999n, [offerOf(1, OVER), offerOf(2)], "1 by EXACT_AMOUNT"],
  [
    "credits an exact amount from its activation on",
    99_999_999n,
    [offerOf(1, { held: [heldBy(1, { fromMs: AT })] })],
    "1 by EXACT_AMOUNT",
  ],
  [
    "credits an exact amount until the end of monitoring",
    99_999_999n,
    [offerOf(1, { ...OVER, held: [heldBy(1, { untilMs: AT })] })],
    "1 by EXACT_AMOUNT",
  ],
  [
    "credits no exact amount before its activation",
    99_999_999n,
    [offerOf(1, { held: [heldBy(1, { fromMs: AT + 1 })] })],
    "1 OUTSIDE_WINDOW",
  ],
  [
    "credits no exact amount after the end of monitoring",
    99_999_999n,
    [offerOf(1, { held: [heldBy(1, { untilMs: AT - 1 })] })],
    "1 OUTSIDE_WINDOW",
  ],
  [
    "credits no amount that the invoice held only at other times",
    42n,
    [offerOf(1, { held: [heldBy(1), held(42n, { fromMs: AT + 1 }), held(42n, { untilMs: AT - 1 })] })],
    "1 AMOUNT_DIFFERS",
  ],
  [
    "credits the invoice that held the amount at that time, not those that held it before or after",
    42n,
    [
      offerOf(1, { held: [held(42n, { untilMs: AT - 1 })] }),
      offerOf(2, { ...OVER, held: [held(42n, { fromMs: AT, untilMs: AT })] }),
      offerOf(3, { held: [held(42n, { fromMs: AT + 1 })] }),
    ],
    "2 by EXACT_AMOUNT",
  ],
  [
    "credits neither of two invoices that both held the amount at that time",
    42n,
    [offerOf(1, { ...OVER, held: [held(42n)] }), offerOf(2, { held: [held(42n)] })],
    "1 AMBIGUOUS, 2 AMBIGUOUS",
  ],
  // Rule 2
  ["credits at the lower end of the tolerance", 99_000_000n, [offerOf(1), dearOf(2)], "1 by TOLERANCE"],
  ["credits at the upper end of the tolerance", 105_000_000n, [offerOf(1), dearOf(2)], "1 by TOLERANCE"],
  [
    "credits no ended invoice by tolerance",
    99_000_000n,
    [offerOf(1, OVER), dearOf(2)],
    "1 AMOUNT_DIFFERS, 2 AMOUNT_DIFFERS",
  ],
  ["credits neither of two within tolerance", 99_500_000n, [offerOf(1), offerOf(2)], "1 AMBIGUOUS, 2 AMBIGUOUS"],
  [
    "credits no invoice when a second one is below, within twice its tolerance",
    104_000_000n,
    [offerOf(1), pricedAt(2, 95_000_000n)],
    "1 AMBIGUOUS, 2 AMBIGUOUS",
  ],
  [
    "credits no invoice when a second one is above, within twice its tolerance",
    99_000_000n,
    [offerOf(1), pricedAt(2, 101_000_000n)],
    "1 AMBIGUOUS, 2 AMBIGUOUS",
  ],
  [
    "credits by tolerance when a second invoice is just outside twice its tolerance",
    99_000_000n,
    [offerOf(1), pricedAt(2, 101_000_001n)],
    "1 by TOLERANCE",
  ],
  [
    "credits by tolerance despite equally close ended invoices",
    99_500_000n,
    [offerOf(1), offerOf(2, OVER), offerOf(3, OVER)],
    "1 by TOLERANCE",
  ],
  [
    "credits by tolerance despite an equally close invoice that is no longer monitored",
    99_500_000n,
    [offerOf(1), offerOf(2, { held: [heldBy(2, { untilMs: AT - 1 })] })],
    "1 by TOLERANCE",
  ],
  [
    "credits by tolerance despite an equally close invoice that is not activated yet",
    99_500_000n,
    [offerOf(1), offerOf(2, { held: [heldBy(2, { fromMs: AT + 1 })] })],
    "1 by TOLERANCE",
  ],
  [
    "credits by tolerance despite an invoice without a rate",
    99_500_000n,
    [offerOf(1), offerOf(2, { askedUnits: null })],
    "1 by TOLERANCE",
  ],
  [
    "credits by tolerance when one invoice holds several reservations",
    99_500_000n,
    [offerOf(1, { held: [heldBy(1), held(7n)] }), dearOf(2)],
    "1 by TOLERANCE",
  ],
  // Rule 3
  ["credits a tenth of the price as sole candidate", 10_000_000n, [offerOf(1), dearOf(2, OVER)], "1 by SOLE_CANDIDATE"],
  ["does not credit less than a tenth of the price", 9_999_999n, [offerOf(1)], "1 AMOUNT_DIFFERS"],
  ["credits double the price as sole candidate", 200_000_000n, [offerOf(1)], "1 by SOLE_CANDIDATE, for review"],
  ["does not credit more than double the price", 200_000_001n, [offerOf(1)], "1 AMOUNT_DIFFERS"],
  ["credits just over the tolerance as sole candidate", 105_000_001n, [offerOf(1)], "1 by SOLE_CANDIDATE, for review"],
  ["credits neither of two open invoices", 50_000_000n, [offerOf(1), offerOf(2)], "1 AMOUNT_DIFFERS, 2 AMOUNT_DIFFERS"],
  [
    "credits neither of two open invoices as sole candidate, even if one of them has no rate",
    50_000_000n,
    [offerOf(1), offerOf(2, { askedUnits: null })],
    "1 AMOUNT_DIFFERS, 2 AMOUNT_DIFFERS",
  ],
  [
    "does not credit the only open invoice without a rate",
    50_000_000n,
    [offerOf(1, { askedUnits: null })],
    "1 AMOUNT_DIFFERS",
  ],
  ["does not credit an ended invoice as sole candidate", 50_000_000n, [offerOf(1, OVER)], "1 AMOUNT_DIFFERS"],
  [
    "credits the only open invoice despite ended ones within tolerance",
    100_000_000n,
    [pricedAt(1, 150_000_000n), offerOf(2, OVER), offerOf(3, OVER)],
    "1 by SOLE_CANDIDATE",
  ],
  [
    "does not credit an invoice that was activated after the block",
    50_000_000n,
    [offerOf(1, { held: [heldBy(1, { fromMs: AT + 1 })] })],
    "1 OUTSIDE_WINDOW",
  ],
  [
    "credits the only invoice open at that time, though another was activated since",
    50_000_000n,
    [offerOf(1), offerOf(2, { held: [heldBy(2, { fromMs: AT + 1 })] })],
    "1 by SOLE_CANDIDATE",
  ],
  // Rule 4
  ["credits no invoice if there is no candidate", 50_000_000n, [], ""],
  [
    "lists the refused candidates with the likeliest first",
    99_500_000n,
    [offerOf(1, { held: [heldBy(1, { fromMs: 6_000 })] }), dearOf(2), offerOf(4), offerOf(3)],
    "3 AMBIGUOUS, 4 AMBIGUOUS, 2 AMOUNT_DIFFERS, 1 OUTSIDE_WINDOW",
  ],
];

describe("the direct match", () => {
  it.each(cases)("%s", (_, amountUnits, offers, expected) => {
    expect(outcomeOf(match(amountUnits, offers))).toBe(expected);
  });

  it("credits no sole candidate when another invoice was open at the address but was not read", () => {
    expect(outcomeOf(match(50_000_000n, [offerOf(1)], { openInvoices: openOf(2) }))).toBe("1 AMOUNT_DIFFERS");
    expect(outcomeOf(match(50_000_000n, [offerOf(1)], { openInvoices: openOf(0) }))).toBe("1 AMOUNT_DIFFERS");
    const two = [offerOf(1), offerOf(2)];
    expect(outcomeOf(match(50_000_000n, two, { openInvoices: openOf(1) }))).toBe("1 AMOUNT_DIFFERS, 2 AMOUNT_DIFFERS");
  });

  it("is based on the quoted units: half of the units is half of the value", () => {
    const bitcoin = { askedUnits: 147_059n, held: [held(147_059n)] };
    expect(outcomeOf(match(145_588n, [offerOf(1, bitcoin)]))).toBe("1 by SOLE_CANDIDATE");
    expect(outcomeOf(match(145_589n, [offerOf(1, bitcoin), dearOf(2)]))).toBe("1 by TOLERANCE");
  });

  const anyWindow = fc.record({
    saltCents: fc.nat({ max: 800 }),
    fromMs: fc.constantFrom(1_000, 4_000, AT, AT + 1),
    untilMs: fc.constantFrom(4_000, AT, 9_000),
  });
  const anyOffer = fc
    .record({
      n: fc.integer({ min: 1, max: 4 }),
      priceCents: fc.constantFrom(9_000, 9_800, 10_000, 10_100, 10_500, 20_000),
      windows: fc.array(anyWindow, { minLength: 1, maxLength: 3 }),
      isOpen: fc.boolean(),
      isPriced: fc.constantFrom(true, true, true, false),
    })
    .map(({ n, priceCents, windows, isOpen, isPriced }) => {
      const own = BigInt(priceCents + 100 * n) * CENTS;
      const amounts = windows.map(({ saltCents, ...window }) => held(own - BigInt(saltCents) * CENTS, window));
      return pricedAt(n, own, { held: amounts, isOpen, ...(!isPriced && { askedUnits: null }) });
    });
  const anyOffers = fc.uniqueArray(anyOffer, { maxLength: 4, selector: (each) => each.invoiceId });
  const anyPlace = anyOffers.chain((offers) => {
    const amounts = offers.flatMap((offer) => offer.held.map(({ units }) => units));
    const anyAmount = fc.integer({ min: 500, max: 45_000 }).map((cents) => BigInt(cents) * CENTS);
    const amountUnits = amounts.length === 0 ? anyAmount : fc.oneof(anyAmount, fc.constantFrom(...amounts));
    return fc.record({ offers: fc.constant(offers), amountUnits });
  });

  it("does not depend on the order of the candidates or of their amounts", () => {
    const shuffled = anyPlace.chain((place) =>
      fc.tuple(fc.constant(place), fc.shuffledSubarray(place.offers, { minLength: place.offers.length }), fc.boolean()),
    );
    fc.assert(
      fc.property(shuffled, ([{ offers, amountUnits }, others, isReversed]) => {
        const turned = others.map((each) => ({ ...each, held: isReversed ? each.held.toReversed() : each.held }));
        expect(outcomeOf(match(amountUnits, turned))).toBe(outcomeOf(match(amountUnits, offers)));
      }),
      { numRuns: RUNS },
    );
  });

  it("does not depend on amounts that were requested after the payment or released before it", () => {
    const elsewhen = fc.record({ n: fc.integer({ min: 1, max: 8 }), isLater: fc.boolean(), isOwn: fc.boolean() });
    fc.assert(
      fc.property(anyPlace, fc.array(elsewhen, { maxLength: 6 }), ({ offers, amountUnits }, more) => {
        const since = new Map(offers.map((offer) => [offer.invoiceId, offer]));
        for (const { n, isLater, isOwn } of more) {
          const window = isLater ? { fromMs: AT + 1 } : { untilMs: AT - 1 };
          const { held: before, ...offer } = since.get(invoiceId(n)) ?? offerOf(n, { held: [] });
          since.set(offer.invoiceId, { ...offer, held: [...before, held(isOwn ? amountUnits : 1n, window)] });
        }
        const then = match(amountUnits, offers);
        const now = match(amountUnits, [...since.values()]);
        const isKnown = (id: string) => offers.some((offer) => offer.invoiceId === id);
        if (then.kind === "credited" || now.kind === "credited") expect(outcomeOf(now)).toBe(outcomeOf(then));
        else {
          expect(now.refused.filter((each) => isKnown(each.invoiceId))).toEqual(then.refused);
          const others = now.refused.filter((each) => !isKnown(each.invoiceId));
          expect(others.every(({ reason }) => reason === "OUTSIDE_WINDOW")).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("never credits an ended invoice by value, and ignores ended invoices when matching others by value", () => {
    fc.assert(
      fc.property(anyPlace, ({ offers, amountUnits }) => {
        const isExact = offers.some((offer) =>
          isHeldAt({ held: offer.held.filter(({ units }) => units === amountUnits) }, AT),
        );
        fc.pre(!isExact);
        const found = match(amountUnits, offers);
        const open = match(
          amountUnits,
          offers.filter(({ isOpen }) => isOpen),
        );
        if (found.kind === "credited") expect(found.candidate.isOpen).toBe(true);
        expect(found.kind).toBe(open.kind);
        if (open.kind === "credited") expect(outcomeOf(found)).toBe(outcomeOf(open));
      }),
      { numRuns: RUNS },
    );
  });

  it("agrees with an independent implementation of the four rules of decisions 5, so that no transfer pays two invoices", () => {
    fc.assert(
      fc.property(anyPlace, fc.boolean(), ({ offers, amountUnits }, isCrowded) => {
        const live = offers.filter((each) => isHeldAt(each, AT));
        const open = live.filter((each) => each.isOpen);
        const value = (of: Offer) => candidateOf(of, amountUnits).valueMicros ?? -(10n ** 30n);
        const lies = (of: Offer, times: bigint) =>
          value(of) >= of.expectedMicros - times * of.underpaidToleranceMicros &&
          value(of) <= of.expectedMicros + times * of.overpaidToleranceMicros;
        const exact = offers.filter((each) =>
          each.held.some((own) => own.units === amountUnits && own.fromMs <= AT && AT <= own.untilMs),
        );
        const within = open.filter((each) => lies(each, 1n));
        const [near] = within;
        const isMuch = near !== undefined && value(near) > near.expectedMicros;
        const isLess = (paid: bigint, asked: bigint) => paid < asked && 4n * paid >= 3n * asked;
        const tells = (asked: bigint) =>
          asked === 2n * amountUnits ||
          2n * asked === amountUnits ||
          (isLess(amountUnits, asked) && ROUND_FEE.test(String(asked - amountUnits)));
        const mayBeMeant = (each: Offer) => {
          const asked = each.held.filter((own) => own.fromMs <= AT && AT <= own.untilMs).map(({ units }) => units);
          const isDearer = isLess(value(each), each.expectedMicros) || asked.some((own) => isLess(amountUnits, own));
          return lies(each, 2n) || asked.some(tells) || (isMuch && isDearer);
        };
        const openInvoices = Math.min(open.length + Number(isCrowded), 2);
        const [sole] = open;
        const fits =
          sole !== undefined && value(sole) * 10n >= sole.expectedMicros && value(sole) <= 2n * sole.expectedMicros;
        const lines: [boolean, Offer | undefined, string][] = [
          [exact.length === 1, exact[0], "EXACT_AMOUNT"],
          [near !== undefined && open.filter(mayBeMeant).every((each) => each === near), near, "TOLERANCE"],
          [openInvoices === 1 && fits, sole, "SOLE_CANDIDATE"],
        ];
        const line = lines.find(([holds]) => holds);
        const found = match(amountUnits, offers, { openInvoices: openOf(openInvoices) });
        if (found.kind === "credited") {
          expect([found.candidate.invoiceId, found.matchedBy]).toEqual([line?.[1]?.invoiceId, line?.[2]]);
          const { expectedMicros, overpaidToleranceMicros, valueMicros } = found.candidate;
          const isOver = (valueMicros ?? 0n) > expectedMicros + overpaidToleranceMicros;
          expect(found.needsReview).toBe(found.matchedBy === "SOLE_CANDIDATE" && isOver);
        } else {
          expect(line).toBeUndefined();
          const ids = offers.map((each) => each.invoiceId);
          expect(found.refused.map((each) => each.invoiceId).toSorted()).toEqual(ids.toSorted());
        }
      }),
      { numRuns: RUNS },
    );
  });
});
