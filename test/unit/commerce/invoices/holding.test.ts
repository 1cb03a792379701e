// What may be held at a shared address, and by whom: whatever others do, a merchant with proof has its part of every price.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type AmountGrain, saltCapacity, saltedUnits } from "../../../../src/commerce/invoices/direct-amount.ts";
import {
  type Holding,
  heldUntilMs,
  holdingBounds,
  holdingRefusal,
  lifetimeRefusal,
  stretchesOf,
} from "../../../../src/commerce/invoices/holding.ts";
import { PROVEN, proofMicros, UNPROVEN } from "../../../../src/commerce/ranks/rank.ts";
import type { Rank } from "../../../../src/platform/column-values.ts";
import { RUNS } from "../../../support/property-runs.ts";

const BITCOIN: AmountGrain = { grainUnits: 1n, coarseGrainUnits: [] };
const DAY_MS = 86_400_000;

interface Row {
  readonly units: bigint;
  readonly rank: Rank;
  readonly merchant: number;
  readonly isPublic: boolean;
}

interface Ask {
  readonly merchant: number;
  readonly rank: Rank;
  readonly isPublic: boolean;
  readonly priceUnits: bigint;
}

const candidatesOf = (priceUnits: bigint): readonly bigint[] =>
  Array.from({ length: saltCapacity(priceUnits, BITCOIN) }, (_, salt) => saltedUnits(priceUnits, BITCOIN, salt));

/** The amount, or the code that refuses it: the rules of a reservation over all rows, by brute force. */
function reserve(rows: readonly Row[], { merchant, rank, isPublic, priceUnits }: Ask): bigint | string {
  const takenFor = (each: Rank) => (units: bigint) =>
    rows.some((row) => row.units === units && (row.rank <= each || row.merchant === merchant));
  const candidates = candidatesOf(priceUnits);
  const isTaken = [takenFor(UNPROVEN), takenFor(rank)];
  const units = isTaken.map((taken) => candidates.find((each) => !taken(each))).find((each) => each !== undefined);
  if (units === undefined) return "AMOUNTS_EXHAUSTED";
  const bounds = holdingBounds({ rank, isPublic }, units, BITCOIN);
  const within = rows.filter((row) => bounds.fromUnits <= row.units && row.units <= bounds.toUnits);
  const there = within.filter((row) => row.rank === rank);
  const own = within.filter((row) => row.merchant === merchant);
  const refusal = holdingRefusal(rank, bounds, {
    ...{ isShared: true, all: there.length, others: PROVEN_MERCHANTS - (rank === PROVEN ? 1 : 0) },
    ...{ own: own.filter((row) => row.rank === rank).length, public: own.filter((row) => row.isPublic).length },
  });
  return refusal === undefined ? units : refusal.code;
}

function history(asks: readonly Ask[]): {
  readonly rows: readonly Row[];
  readonly answers: readonly (bigint | string)[];
} {
  const rows: Row[] = [];
  const answers = asks.map((ask) => {
    const answer = reserve(rows, ask);
    if (typeof answer === "bigint") rows.push({ ...ask, units: answer });
    return answer;
  });
  return { rows, answers };
}

/** Merchants 0 and 1 have proof. */
const PROVEN_MERCHANTS = 2;

/** Prices around one figure, so that their candidates overlap. */
const anyAsk = fc
  .record({
    merchant: fc.nat({ max: 7 }),
    isPublic: fc.boolean(),
    offBy: fc.oneof(fc.constant(0), fc.integer({ min: -30, max: 30 })),
  })
  .map(({ merchant, isPublic, offBy }): Ask => {
    return {
      merchant,
      isPublic,
      rank: merchant < PROVEN_MERCHANTS ? PROVEN : UNPROVEN,
      priceUnits: BigInt(2_400 + offBy),
    };
  });
const anyAsks = fc.array(anyAsk, { maxLength: 120, size: "max" });

describe("any history of reservations at one address", () => {
  it("serves the server of a merchant with proof until it has its part of the price", () => {
    fc.assert(
      fc.property(
        anyAsks,
        fc.nat({ max: PROVEN_MERCHANTS - 1 }),
        fc.integer({ min: -30, max: 30 }),
        (asks, merchant, offBy) => {
          const { rows } = history(asks);
          const priceUnits = BigInt(2_400 + offBy);
          if (typeof reserve(rows, { merchant, rank: PROVEN, isPublic: false, priceUnits }) === "bigint") return;
          const capacity = candidatesOf(priceUnits).length;
          const near = rows.filter(
            (row) => row.merchant === merchant && Math.abs(Number(row.units - priceUnits)) <= 2 * capacity,
          );
          expect(near.length).toBeGreaterThanOrEqual(Math.floor(capacity / PROVEN_MERCHANTS));
          // What browsers hold of it is half at most.
          expect(near.filter((row) => !row.isPublic).length).toBeGreaterThan(0);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("leaves everybody what they hold, as long as the price has any other amount", () => {
    fc.assert(
      fc.property(anyAsks, (asks) => {
        const { answers } = history(asks);
        answers.forEach((units, n) => {
          const { rows } = history(asks.slice(0, n));
          if (!rows.some((row) => row.units === units)) return;
          const candidates = candidatesOf(asks[n]?.priceUnits ?? 0n);
          expect(candidates.every((each) => rows.some((row) => row.units === each))).toBe(true);
        });
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });

  it("lets no two merchants of one rank hold an amount, nor one merchant hold it twice", () => {
    fc.assert(
      fc.property(anyAsks, (asks) => {
        const { rows } = history(asks);
        expect(new Set(rows.map(({ units, rank }) => `${units} ${rank}`)).size).toBe(rows.length);
        expect(new Set(rows.map(({ units, merchant }) => `${units} ${merchant}`)).size).toBe(rows.length);
      }),
      { numRuns: RUNS },
    );
  });

  it("leaves three quarters of what is around any price to proof, and eight amounts to each merchant without", () => {
    fc.assert(
      fc.property(anyAsks, fc.integer({ min: 2_300, max: 2_500 }), (asks, price) => {
        const reach = Math.floor(price / 200);
        const around = history(asks).rows.filter(
          ({ rank, units }) => rank === UNPROVEN && Math.abs(Number(units) - price) <= reach,
        );
        expect(around.length * 4).toBeLessThanOrEqual(2 * reach + 1);
        for (const held of Map.groupBy(around, ({ merchant }) => merchant).values())
          expect(held.length).toBeLessThanOrEqual(8);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("what is held where an address is shared", () => {
  const SHARED = { isShared: true, others: 1, public: 0 };

  test.each<[string, Rank, bigint, Partial<Holding> & Pick<Holding, "all" | "own">, string | undefined]>([
    // 10 USD in bitcoin: 147 amounts, of which 36 are a quarter.
    ["the eighth of a merchant without proof", UNPROVEN, 14_706n, { all: 30, own: 7 }, undefined],
    ["its ninth", UNPROVEN, 14_706n, { all: 30, own: 8 }, "amountsWithoutProof 8"],
    ["the last of the quarter", UNPROVEN, 14_706n, { all: 35, own: 0 }, undefined],
    ["one beyond the quarter", UNPROVEN, 14_706n, { all: 36, own: 0 }, "percentOfAmountsWithoutProof 25"],
    ["one where a quarter is none", UNPROVEN, 150n, { all: 0, own: 0 }, "percentOfAmountsWithoutProof 25"],
    ["any number of all with proof", PROVEN, 14_706n, { all: 10_000, own: 36 }, undefined],
    ["half of one with proof", PROVEN, 14_706n, { all: 37, own: 37 }, "AMOUNTS_EXHAUSTED"],
    ["a third of one of three with proof", PROVEN, 14_706n, { all: 25, own: 25, others: 2 }, "AMOUNTS_EXHAUSTED"],
    ["any number of one who is alone", UNPROVEN, 14_706n, { all: 70, own: 70, isShared: false }, undefined],
  ])("%s", (_, rank, units, held, expected) => {
    const bounds = holdingBounds({ rank, isPublic: false }, units, BITCOIN);
    const refusal = holdingRefusal(rank, bounds, { ...SHARED, ...held });
    const told = refusal?.code === "LIMIT_REACHED" ? `${refusal.name} ${refusal.limit}` : refusal?.code;
    expect(told).toBe(expected);
  });

  test.each<[string, Rank, Partial<Holding> & Pick<Holding, "public">, string | undefined]>([
    ["half of a price for browsers, of a merchant who is alone", UNPROVEN, { isShared: false, public: 36 }, undefined],
    ["and one more", UNPROVEN, { isShared: false, public: 37 }, "percentOfAmountsForPublic 50"],
    ["half of what a merchant without proof may have", UNPROVEN, { public: 3 }, undefined],
    ["and one more than that", UNPROVEN, { public: 4 }, "percentOfAmountsForPublic 50"],
    ["half of the half of one with proof", PROVEN, { public: 18 }, undefined],
    ["and one more of it", PROVEN, { public: 19 }, "percentOfAmountsForPublic 50"],
  ])("%s", (_, rank, held, expected) => {
    const bounds = holdingBounds({ rank, isPublic: true }, 14_706n, BITCOIN);
    const refusal = holdingRefusal(rank, bounds, { ...SHARED, all: held.public, own: held.public, ...held });
    const told = refusal?.code === "LIMIT_REACHED" ? `${refusal.name} ${refusal.limit}` : refusal?.code;
    expect(told).toBe(expected);
  });

  test.each([
    ["one length", 9_800n, 9_990n, ["4 9800 9990"]],
    ["two lengths", 9_900n, 10_100n, ["4 9900 9999", "5 10000 10100"]],
    ["one amount", 7n, 7n, ["1 7 7"]],
  ])("is counted in stretches of %s", (_, fromUnits, toUnits, expected) => {
    const stretches = stretchesOf({ fromUnits, toUnits });
    expect(stretches.map(({ digits, from, to }) => `${digits} ${from} ${to}`)).toEqual(expected);
  });

  it("lasts a day without proof, and never ends before the invoice does", () => {
    const invoice = { createdAtMs: 0, expiresAtMs: 3_600_000, monitorUntilMs: 8 * DAY_MS };
    const of = { isShared: true, rank: UNPROVEN };
    expect(heldUntilMs(invoice, of)).toBe(DAY_MS);
    expect(heldUntilMs({ ...invoice, expiresAtMs: 2 * DAY_MS }, of)).toBe(2 * DAY_MS);
    expect(heldUntilMs({ ...invoice, monitorUntilMs: 7_200_000 }, of)).toBe(7_200_000);
    expect(heldUntilMs(invoice, { ...of, rank: PROVEN })).toBe(8 * DAY_MS);
    expect(heldUntilMs(invoice, { ...of, isShared: false })).toBe(8 * DAY_MS);
    expect(lifetimeRefusal({ expiresAtMs: DAY_MS }, 0)).toBeUndefined();
    expect(lifetimeRefusal({ expiresAtMs: DAY_MS + 1 }, 0)).toMatchObject({ limit: 86_400 });
  });
});

describe("proof", () => {
  test.each([
    ["an exact amount, confirmed", "CONFIRMED", "EXACT_AMOUNT", 5n, 0, 5n],
    ["an own address, confirmed", "CONFIRMED", "ADDRESS", 5n, null, 5n],
    ["not confirmed yet", "DETECTED", "EXACT_AMOUNT", 5n, 0, 0n],
    ["gone from the chain", "REORGED", "EXACT_AMOUNT", 5n, 0, 0n],
    ["near an amount", "CONFIRMED", "TOLERANCE", 5n, 0, 0n],
    ["a person's word", "CONFIRMED", "MANUAL", 5n, 0, 0n],
    ["of unknown worth", "CONFIRMED", "EXACT_AMOUNT", null, 0, 0n],
    ["an amount asked for just before it came", "CONFIRMED", "EXACT_AMOUNT", 5n, 1, 0n],
    ["an amount that nobody asked for", "CONFIRMED", "EXACT_AMOUNT", 5n, null, 0n],
  ])("is %s: %s", (_, status, matchedBy, usdMicros, askedFromMs, expected) => {
    expect(proofMicros({ status, matchedBy, usdMicros, receivedAtMs: 60_000 }, askedFromMs)).toBe(expected);
  });
});
