import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  type AmountGrain,
  amountsLowMark,
  candidateTexts,
  drawSalt,
  firstSalt,
  plainUnits,
  saltCapacity,
  saltedUnits,
} from "../../../../src/commerce/invoices/direct-amount.ts";
import { RUNS } from "../../../support/property-runs.ts";

const stable: AmountGrain = { grainUnits: 1n, coarseGrainUnits: [10_000n, 1_000n, 100n] };
const stable18: AmountGrain = {
  grainUnits: 10n ** 12n,
  coarseGrainUnits: [10n ** 16n, 10n ** 15n, 10n ** 14n],
};
const bitcoin: AmountGrain = { grainUnits: 1n, coarseGrainUnits: [] };
const ether: AmountGrain = { grainUnits: 10n ** 10n, coarseGrainUnits: [] };

/** The same list from the definition: each grain's multiples in turn, each amount once. */
function candidates(priceUnits: bigint, { grainUnits, coarseGrainUnits }: AmountGrain): bigint[] {
  const found = new Set([priceUnits]);
  for (const grain of [...coarseGrainUnits, grainUnits]) {
    for (let off = grain; off * 200n <= priceUnits && off <= 10_000n * grainUnits; off += grain)
      found.add(priceUnits - off);
  }
  return [...found];
}

describe("the price", () => {
  test.each([
    ["a quote finer than the grain is rounded up", 1_000_000_000_000_000_001n, ether, 1_000_000_010_000_000_000n],
    ["a quote on the grain stays", 1_000_000_010_000_000_000n, ether, 1_000_000_010_000_000_000n],
    ["less than one grain is one", 1n, ether, 10n ** 10n],
    ["with a grain of one unit nothing is rounded", 12_345n, bitcoin, 12_345n],
    ["coarse grains do not round", 10_123_457n, stable, 10_123_457n],
  ])("%s", (_why, quote, asset, units) => {
    expect(plainUnits(quote, asset)).toBe(units);
  });
});

describe("the candidates of a price", () => {
  it("are the plain price, then the coarsest steps below it, then finer ones", () => {
    const amounts = [0, 1, 2, 3, 9, 10, 11, 12, 19, 20, 99, 100, 101].map((salt) =>
      saltedUnits(10_123_457n, stable, salt),
    );
    // 10.123457 USDT: most 10,000 grains off, so one cent once, then tenths of it, and so on.
    expect(amounts).toEqual([
      10_123_457n,
      10_113_457n,
      10_122_457n,
      10_121_457n,
      10_115_457n,
      10_114_457n,
      10_123_357n,
      10_123_257n,
      10_122_557n,
      10_122_357n,
      10_113_657n,
      10_113_557n,
      10_123_456n,
    ]);
  });

  test.each([
    ["too small for any step", 199n, bitcoin, 1],
    ["just large enough for one", 200n, bitcoin, 2],
    ["a price of one grain", 10n ** 10n, ether, 1],
    ["ten thousand grains at 0.5 %", 2_000_000n, bitcoin, 10_001],
    ["one unit below that", 1_999_999n, bitcoin, 10_000],
    ["never more, however large", 10n ** 24n, ether, 10_001],
    ["coarse steps are among the fine ones", 10_000_000n, stable, 10_001],
  ])("%s", (_why, price, asset, capacity) => {
    expect(saltCapacity(price, asset)).toBe(capacity);
  });

  it("there is none beyond the last, and none of a price off the grain", () => {
    expect(saltedUnits(200n, bitcoin, 1)).toBe(199n);
    expect(() => saltedUnits(200n, bitcoin, 2)).toThrow(/out of range/);
    expect(() => saltCapacity(10n ** 10n + 1n, ether)).toThrow(/multiple/);
    expect(() => saltCapacity(0n, bitcoin)).toThrow(/positive/);
  });

  it("grains that are not multiples of each other are a bug", () => {
    expect(() => saltedUnits(10n ** 6n, { grainUnits: 1n, coarseGrainUnits: [10n, 4n] }, 600)).toThrow(/grain/);
  });

  const anyAsset = fc.constantFrom(stable, stable18, bitcoin, ether, { grainUnits: 5n, coarseGrainUnits: [60n, 10n] });

  it("are exactly those of the definition, in its order", () => {
    const price = fc.tuple(anyAsset, fc.integer({ min: 1, max: 60_000 }));
    fc.assert(
      fc.property(price, ([asset, grains]) => {
        const priceUnits = BigInt(grains) * asset.grainUnits;
        const amounts = Array.from({ length: saltCapacity(priceUnits, asset) }, (_, salt) =>
          saltedUnits(priceUnits, asset, salt),
        );
        expect(amounts).toEqual(candidates(priceUnits, asset));
      }),
      { numRuns: RUNS / 5 },
    );
  });

  it("of a large price are all distinct, multiples of the grain, never above it and at most 0.5 % below", () => {
    for (const asset of [stable, stable18, bitcoin, ether]) {
      const priceUnits = 2_345_679n * asset.grainUnits;
      const amounts = Array.from({ length: saltCapacity(priceUnits, asset) }, (_, salt) =>
        saltedUnits(priceUnits, asset, salt),
      );
      expect(amounts).toEqual(candidates(priceUnits, asset));
      expect(new Set(amounts).size).toBe(10_001);
    }
  });

  it("any two salts of any price differ in amount, within 0.5 %, on the grain and above zero", () => {
    fc.assert(
      fc.property(anyAsset, fc.bigInt(1n, 10n ** 30n), fc.nat(), fc.nat(), (asset, grains, a, b) => {
        const priceUnits = grains * asset.grainUnits;
        const capacity = saltCapacity(priceUnits, asset);
        const [first, second] = [a % capacity, b % capacity];
        const units = saltedUnits(priceUnits, asset, first);
        expect(units === saltedUnits(priceUnits, asset, second)).toBe(first === second);
        expect(units > 0n && units <= priceUnits && (priceUnits - units) * 200n <= priceUnits).toBe(true);
        expect(units % asset.grainUnits).toBe(0n);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the candidates as texts", () => {
  it("are those of the same numbers, whichever part is asked for", () => {
    const all = candidates(10_123_457n, stable).map(String);
    expect(candidateTexts(10_123_457n, stable, { from: 0, to: all.length })).toEqual(all);
    expect(candidateTexts(10_123_457n, stable, { from: 5, to: 5 })).toEqual([]);
    fc.assert(
      fc.property(fc.nat(all.length), fc.nat(200), (from, count) => {
        const to = Math.min(from + count, all.length);
        expect(candidateTexts(10_123_457n, stable, { from, to })).toEqual(all.slice(from, to));
      }),
      { numRuns: RUNS / 10 },
    );
  });
});

describe("the first salt", () => {
  const dense = Array.from({ length: 64 }, (_, i) => i);
  test.each<
    [
      why: string,
      takenSalts: number[],
      maxSalt: number | null,
      isPriceTaken: boolean,
      capacity: number,
      salt: number | undefined,
    ]
  >([
    ["nothing taken: the plain price", [], null, false, 10, 0],
    ["the plain price is taken", [0], 0, true, 10, 1],
    ["the plain price is taken by another price's invoice: it must be looked up", [], null, true, 10, undefined],
    ["the same, beside amounts of this price", [1, 2], 2, true, 10, undefined],
    ["a gap at the plain price", [1, 2], 2, false, 10, 0],
    ["a gap between", [0, 1, 3], 3, true, 10, 2],
    ["all of those read are taken: after the greatest", dense, 90, true, 1_000, 91],
    ["a gap among those read, though the greatest is the last", [0, 2], 9, true, 10, 1],
    ["all taken", [0, 1, 2], 2, true, 3, undefined],
    ["a price with the plain amount only", [0], 0, true, 1, undefined],
    ["taken to the end, a gap beyond those read is not seen", dense, 99, true, 100, undefined],
    ["a greatest behind those read", [0, 1], null, true, 10, 2],
  ])("%s", (_why, takenSalts, maxSalt, isPriceTaken, capacity, salt) => {
    expect(firstSalt({ takenSalts, maxSalt, isPriceTaken }, capacity)).toBe(salt);
  });

  it("is always free and a candidate, and is found whenever a look at 64 can find one", () => {
    const taken = fc.uniqueArray(fc.nat({ max: 120 }), { maxLength: 121 });
    fc.assert(
      fc.property(taken, fc.integer({ min: 1, max: 121 }), (salts, capacity) => {
        const all = salts.filter((salt) => salt < capacity).toSorted((a, b) => a - b);
        const read = { takenSalts: all.slice(0, 64), maxSalt: all.at(-1) ?? null, isPriceTaken: all.includes(0) };
        const salt = firstSalt(read, capacity);
        if (salt === undefined) expect(all.length === capacity || all.length > 64).toBe(true);
        else expect(salt < capacity && !all.includes(salt)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("reserving one after another takes every candidate once", () => {
    const capacity = saltCapacity(40_000n, bitcoin);
    const taken: number[] = [];
    for (;;) {
      const read = { takenSalts: taken.slice(0, 64), maxSalt: taken.at(-1) ?? null, isPriceTaken: taken.length > 0 };
      const salt = firstSalt(read, capacity);
      if (salt === undefined) break;
      taken.push(salt);
    }
    expect(taken).toEqual(Array.from({ length: 201 }, (_, i) => i));
  });
});

describe("the draw among free salts", () => {
  const freeSalts = [3, 5, 8, 13];
  test.each<[why: string, freeSalts: number[], lostSalts: number[], random: number, salt: number | undefined]>([
    ["none is free", [], [], 0.5, undefined],
    ["none is free after a collision", [], [1], 0.5, undefined],
    ["without a collision the smallest", freeSalts, [], 0.999_999, 3],
    ["after one the first", freeSalts, [1], 0, 3],
    ["or one between", freeSalts, [1], 0.5, 8],
    ["or the last", freeSalts, [1], 0.999_999, 13],
    ["one that is free after all did not lose", freeSalts, [1, 8], 0, 8],
    ["only the newest try tells that", freeSalts, [8, 1], 0, 3],
  ])("%s", (_why, free, lostSalts, random, salt) => {
    expect(drawSalt({ freeSalts: free, lostSalts, random })).toBe(salt);
  });
});

describe("amounts run low", () => {
  test.each([
    [1, undefined],
    [2, 2],
    [3, 3],
    [5, 4],
    [11, 9],
    [35, 28],
    [10_001, 8_001],
  ])("of %d at 80 %%, rounded up: at %s", (capacity, mark) => {
    expect(amountsLowMark(capacity)).toBe(mark);
  });
});
