import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  type AmountGrain,
  amountsLowMark,
  candidateUnits,
  firstSalt,
  plainUnits,
  saltCapacity,
  saltedUnits,
  saltOf,
} from "../../../../src/commerce/amounts/direct-amount.ts";
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

describe("the plain price of a quote", () => {
  test.each([
    ["is the quote rounded up to the grain", 1_000_000_000_000_000_001n, ether, 1_000_000_010_000_000_000n],
    ["is the quote itself when it is on the grain", 1_000_000_010_000_000_000n, ether, 1_000_000_010_000_000_000n],
    ["is one grain when the quote is less than one", 1n, ether, 10n ** 10n],
    ["is the quote itself when the grain is one unit", 12_345n, bitcoin, 12_345n],
    ["is not rounded to the coarse grains", 10_123_457n, stable, 10_123_457n],
  ])("%s", (_why, quote, asset, units) => {
    expect(plainUnits(quote, asset)).toBe(units);
  });
});

describe("the candidate amounts of a price", () => {
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
    ["are only the price when it is too small for any step", 199n, bitcoin, 1],
    ["are two when the price is just large enough for one step", 200n, bitcoin, 2],
    ["are only the price when it is one grain", 10n ** 10n, ether, 1],
    ["are 10,001 when ten thousand grains are 0.5 % of the price", 2_000_000n, bitcoin, 10_001],
    ["are one fewer when the price is one unit lower", 1_999_999n, bitcoin, 10_000],
    ["are at most 10,001, however large the price", 10n ** 24n, ether, 10_001],
    ["count a coarse step that is also a fine step once", 10_000_000n, stable, 10_001],
  ])("%s", (_why, price, asset, capacity) => {
    expect(saltCapacity(price, asset)).toBe(capacity);
  });

  it("end with the last salt, and do not exist for a price off the grain", () => {
    expect(saltedUnits(200n, bitcoin, 1)).toBe(199n);
    expect(() => saltedUnits(200n, bitcoin, 2)).toThrow(/out of range/);
    expect(() => saltCapacity(10n ** 10n + 1n, ether)).toThrow(/multiple/);
    expect(() => saltCapacity(0n, bitcoin)).toThrow(/positive/);
  });

  it("throw for grains that are not multiples of each other", () => {
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

  it("differ for any two salts, within 0.5 % of the price, on the grain and above zero", () => {
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

describe("a part of the candidates", () => {
  it("has those of the same numbers, no matter which part is asked for", () => {
    const all = candidates(10_123_457n, stable);
    expect(candidateUnits(10_123_457n, stable, { from: 0, to: all.length })).toEqual(all);
    expect(candidateUnits(10_123_457n, stable, { from: 5, to: 5 })).toEqual([]);
    fc.assert(
      fc.property(fc.nat(all.length), fc.nat(200), (from, count) => {
        const to = Math.min(from + count, all.length);
        expect(candidateUnits(10_123_457n, stable, { from, to })).toEqual(all.slice(from, to));
      }),
      { numRuns: RUNS / 10 },
    );
  });
});

describe("the first free salt", () => {
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
    ["is 0, the plain price, when nothing is taken", [], null, false, 10, 0],
    ["is 1 when the plain price is taken", [0], 0, true, 10, 1],
    ["is not known when an invoice of another price holds the plain price", [], null, true, 10, undefined],
    ["is not known then either, when other salts of this price are taken", [1, 2], 2, true, 10, undefined],
    ["is 0 when the plain price is the gap", [1, 2], 2, false, 10, 0],
    ["is the first gap between taken salts", [0, 1, 3], 3, true, 10, 2],
    ["follows the greatest taken salt when all those read are taken", dense, 90, true, 1_000, 91],
    ["is the first gap among those read, even when it is below the greatest", [0, 2], 9, true, 10, 1],
    ["does not exist when all are taken", [0, 1, 2], 2, true, 3, undefined],
    ["does not exist when the plain price is the only candidate and is taken", [0], 0, true, 1, undefined],
    ["is not known when all those read and the last one are taken", dense, 99, true, 100, undefined],
    ["follows those read when the greatest is not known", [0, 1], null, true, 10, 2],
  ])("%s", (_why, takenSalts, maxSalt, isPriceTaken, capacity, salt) => {
    expect(firstSalt({ takenSalts, maxSalt, isPriceTaken }, capacity)).toBe(salt);
  });

  it("is always free and in range, and is found whenever the lowest 64 taken salts show one", () => {
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

  it("takes every candidate once when salts are reserved one after another", () => {
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

describe("amounts run low", () => {
  test.each([
    [1, undefined],
    [2, 2],
    [3, 3],
    [5, 4],
    [11, 9],
    [35, 28],
    [10_001, 8_001],
  ])("of %d candidates is 80 %%, rounded up: %s", (capacity, mark) => {
    expect(amountsLowMark(capacity)).toBe(mark);
  });
});

describe("the number of an amount among the candidates of a price", () => {
  it("is the one that gives it, and undefined for any other amount", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(stable, stable18, bitcoin, ether),
        fc.bigInt({ min: 1n, max: 3_000_000n }),
        fc.nat(),
        (asset, grains, seed) => {
          const priceUnits = grains * asset.grainUnits;
          const capacity = saltCapacity(priceUnits, asset);
          const salt = seed % capacity;
          expect(saltOf(priceUnits, asset, saltedUnits(priceUnits, asset, salt))).toBe(salt);
          expect(saltOf(priceUnits, asset, priceUnits + asset.grainUnits)).toBeUndefined();
          const below = priceUnits - BigInt(capacity) * asset.grainUnits;
          expect(saltOf(priceUnits, asset, below)).toBeUndefined();
        },
      ),
      { numRuns: RUNS },
    );
  });
});
