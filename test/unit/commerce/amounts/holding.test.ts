// How many amounts each merchant may hold at a shared address. A merchant with proof must get its share of the amounts at every price, whatever other merchants do.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type AmountGrain, saltCapacity, saltedUnits } from "../../../../src/commerce/amounts/direct-amount.ts";
import {
  type Holding,
  heldUntilMs,
  holdingBounds,
  holdingRefusal,
  lifetimeRefusal,
} from "../../../../src/commerce/amounts/holding.ts";
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

/** The amount or the code of the refusal, computed by applying the rules of a reservation to all rows. */
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
  const ownThere = own.filter((row) => row.rank === rank);
  const refusal = holdingRefusal(rank, bounds, {
    isShared: true,
    all: there.length,
    others: PROVEN_MERCHANTS - (rank === PROVEN ? 1 : 0),
    own: ownThere.length,
    ownPublic: ownThere.filter((row) => row.isPublic).length,
    public: own.filter((row) => row.isPublic).length,
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

/** Merchants 0 and 1 are proven, the others are not. */
const PROVEN_MERCHANTS = 2;

/** Prices close together, so that their candidates overlap. */
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

const askOf = (merchant: number, isPublic: boolean, priceUnits: bigint): Ask => ({
  merchant,
  isPublic,
  priceUnits,
  rank: PROVEN,
});

/** The browsers of merchant 0 get three amounts at the lower prices and three at the higher ones, which are all six that they may hold. */
const BROWSERS_AT_NEIGHBOURING_PRICES: readonly Ask[] = [
  ...[2_400n, 2_400n].map((price) => askOf(1, false, price)),
  ...[2_407n, 2_410n].map((price) => askOf(0, true, price)),
  askOf(1, false, 2_400n),
  ...[2_400n, 2_400n, 2_411n].map((price) => askOf(0, true, price)),
  ...[2_400n, 2_400n].map((price) => askOf(1, false, price)),
  askOf(0, true, 2_400n),
];

describe("the allocator of one address, after any history of reservations,", () => {
  it("lets the server of a proven merchant reserve amounts until the merchant has its share of the price's amounts", () => {
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
          // Browsers hold at most half of the merchant's amounts.
          expect(near.filter((row) => !row.isPublic).length).toBeGreaterThan(0);
        },
      ),
      { numRuns: RUNS, examples: [[[...BROWSERS_AT_NEIGHBOURING_PRICES], 0, 1]] },
    );
  });

  it("gives neither of two proven merchants more than half of a price's amounts, rounded up", () => {
    fc.assert(
      fc.property(anyAsks, fc.integer({ min: 2_300, max: 2_500 }), (asks, price) => {
        const candidates = new Set(candidatesOf(BigInt(price)));
        const held = history(asks).rows.filter(({ rank, units }) => rank === PROVEN && candidates.has(units));
        for (const own of Map.groupBy(held, ({ merchant }) => merchant).values())
          expect(own.length).toBeLessThanOrEqual(Math.ceil(candidates.size / PROVEN_MERCHANTS));
      }),
      { numRuns: RUNS },
    );
  });

  it("never gives an amount that is already reserved while the price has a free amount", () => {
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

  it("never gives an amount to two merchants of the same rank, or twice to one merchant", () => {
    fc.assert(
      fc.property(anyAsks, (asks) => {
        const { rows } = history(asks);
        expect(new Set(rows.map(({ units, rank }) => `${units} ${rank}`)).size).toBe(rows.length);
        expect(new Set(rows.map(({ units, merchant }) => `${units} ${merchant}`)).size).toBe(rows.length);
      }),
      { numRuns: RUNS },
    );
  });

  it("leaves three quarters of the amounts around any price to proven merchants, and gives each unproven merchant at most eight", () => {
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

describe("the limits on holding amounts at a shared address", () => {
  const SHARED = { isShared: true, others: 1, ownPublic: 0, public: 0 };

  test.each<[string, Rank, bigint, Partial<Holding> & Pick<Holding, "all" | "own">, string | undefined]>([
    // For 10 USD in bitcoin there are 147 possible amounts around the price; a quarter of that is 36.
    ["allow the eighth amount of an unproven merchant", UNPROVEN, 14_706n, { all: 30, own: 7 }, undefined],
    ["refuse an unproven merchant its ninth amount", UNPROVEN, 14_706n, { all: 30, own: 8 }, "amountsWithoutProof 8"],
    ["allow the last amount of the unproven quarter", UNPROVEN, 14_706n, { all: 35, own: 0 }, undefined],
    [
      "refuse an amount beyond the unproven quarter",
      UNPROVEN,
      14_706n,
      { all: 36, own: 0 },
      "percentOfAmountsWithoutProof 25",
    ],
    [
      "allow no amount if a quarter is less than one",
      UNPROVEN,
      150n,
      { all: 0, own: 0 },
      "percentOfAmountsWithoutProof 25",
    ],
    ["ignore the total of proven merchants", PROVEN, 14_706n, { all: 10_000, own: 36 }, undefined],
    ["allow one of two proven merchants at most half", PROVEN, 14_706n, { all: 37, own: 37 }, "AMOUNTS_EXHAUSTED"],
    [
      "count browsers only up to half of a proven merchant's half",
      PROVEN,
      14_706n,
      { all: 40, own: 40, ownPublic: 23 },
      undefined,
    ],
    [
      "count all amounts of a proven merchant's server",
      PROVEN,
      14_706n,
      { all: 40, own: 40, ownPublic: 22 },
      "AMOUNTS_EXHAUSTED",
    ],
    [
      "count all amounts of an unproven merchant",
      UNPROVEN,
      14_706n,
      { all: 8, own: 8, ownPublic: 8 },
      "amountsWithoutProof 8",
    ],
    [
      "allow one of three proven merchants at most a third",
      PROVEN,
      14_706n,
      { all: 25, own: 25, others: 2 },
      "AMOUNTS_EXHAUSTED",
    ],
    ["do not apply to a merchant that is alone", UNPROVEN, 14_706n, { all: 70, own: 70, isShared: false }, undefined],
  ])("%s", (_, rank, units, held, expected) => {
    const bounds = holdingBounds({ rank, isPublic: false }, units, BITCOIN);
    const refusal = holdingRefusal(rank, bounds, { ...SHARED, ...held });
    const outcome = refusal?.code === "LIMIT_REACHED" ? `${refusal.name} ${refusal.limit}` : refusal?.code;
    expect(outcome).toBe(expected);
  });

  test.each<[string, Rank, Partial<Holding> & Pick<Holding, "public">, string | undefined]>([
    [
      "allow browsers half of a price's amounts if their merchant is alone",
      UNPROVEN,
      { isShared: false, public: 36 },
      undefined,
    ],
    [
      "refuse browsers more than half of a price's amounts",
      UNPROVEN,
      { isShared: false, public: 37 },
      "percentOfAmountsForPublic 50",
    ],
    ["allow browsers half of what an unproven merchant may hold", UNPROVEN, { public: 3 }, undefined],
    [
      "refuse browsers more than half of what an unproven merchant may hold",
      UNPROVEN,
      { public: 4 },
      "percentOfAmountsForPublic 50",
    ],
    ["allow browsers half of a proven merchant's half", PROVEN, { public: 18 }, undefined],
    [
      "refuse browsers more than half of a proven merchant's half",
      PROVEN,
      { public: 19 },
      "percentOfAmountsForPublic 50",
    ],
  ])("%s", (_, rank, held, expected) => {
    const bounds = holdingBounds({ rank, isPublic: true }, 14_706n, BITCOIN);
    const refusal = holdingRefusal(rank, bounds, {
      ...SHARED,
      all: held.public,
      own: held.public,
      ownPublic: held.public,
      ...held,
    });
    const outcome = refusal?.code === "LIMIT_REACHED" ? `${refusal.name} ${refusal.limit}` : refusal?.code;
    expect(outcome).toBe(expected);
  });

  it("let an unproven merchant use an amount for a day, or until the amount's invoice expires if that is later", () => {
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

describe("the proof from a payment", () => {
  test.each([
    ["matched by exact amount and confirmed", "CONFIRMED", "EXACT_AMOUNT", 5n, 0, 5n],
    ["to its own address and confirmed", "CONFIRMED", "ADDRESS", 5n, null, 5n],
    ["not confirmed yet", "DETECTED", "EXACT_AMOUNT", 5n, 0, 0n],
    ["that left the chain", "REORGED", "EXACT_AMOUNT", 5n, 0, 0n],
    ["that came close to an amount", "CONFIRMED", "TOLERANCE", 5n, 0, 0n],
    ["matched by a user", "CONFIRMED", "MANUAL", 5n, 0, 0n],
    ["of unknown value", "CONFIRMED", "EXACT_AMOUNT", null, 0, 0n],
    ["of an amount that was requested only just before it came", "CONFIRMED", "EXACT_AMOUNT", 5n, 1, 0n],
    ["of an amount that was never requested", "CONFIRMED", "EXACT_AMOUNT", 5n, null, 0n],
  ])("%s (%s by %s, worth %s, requested at %s) is %s", (_, status, matchedBy, usdMicros, askedFromMs, expected) => {
    expect(proofMicros({ status, matchedBy, usdMicros, receivedAtMs: 60_000 }, askedFromMs)).toBe(expected);
  });
});
