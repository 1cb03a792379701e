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

/** The candidates, computed directly from their definition: the multiples of each grain in turn, without duplicates. */
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

describe("the candidate amounts for a price", () => {
  it("are the plain price, followed by amounts in coarse steps below it, and by amounts in finer steps below it", () => {
    const amounts = [0, 1, 2, 3, 9, 10, 11, 12, 19, 20, 99, 100, 101].map((salt) =>
      saltedUnits(10_123_457n, stable, salt),
    );
    // The price is 10.123457 USDT. Candidates are at most 10,000 grains lower, so there is one step of a cent, then steps of a tenth of a cent, and
    // so on.
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
    ["include an amount once if it is both a coarse and a fine step", 10_000_000n, stable, 10_001],
  ])("%s", (_why, price, asset, capacity) => {
    expect(saltCapacity(price, asset)).toBe(capacity);
  });

  it("cannot be computed for a salt that is too large, or for a price that is not a positive multiple of the grain", () => {
    expect(saltedUnits(200n, bitcoin, 1)).toBe(199n);
    expect(() => saltedUnits(200n, bitcoin, 2)).toThrow(/out of range/);
    expect(() => saltCapacity(10n ** 10n + 1n, ether)).toThrow(/multiple/);
    expect(() => saltCapacity(0n, bitcoin)).toThrow(/positive/);
  });

  it("cannot be computed for grains that are not multiples of each other", () => {
    expect(() => saltedUnits(10n ** 6n, { grainUnits: 1n, coarseGrainUnits: [10n, 4n] }, 600)).toThrow(/grain/);
  });

  const anyAsset = fc.constantFrom(stable, stable18, bitcoin, ether, { grainUnits: 5n, coarseGrainUnits: [60n, 10n] });

  it("equal those computed from the definition, in the same order", () => {
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

  it("are distinct multiples of the grain, at most 0.5 % below the price and never above it, even at a large price", () => {
    for (const asset of [stable, stable18, bitcoin, ether]) {
      const priceUnits = 2_345_679n * asset.grainUnits;
      const amounts = Array.from({ length: saltCapacity(priceUnits, asset) }, (_, salt) =>
        saltedUnits(priceUnits, asset, salt),
      );
      expect(amounts).toEqual(candidates(priceUnits, asset));
      expect(new Set(amounts).size).toBe(10_001);
    }
  });

  it("differ for any two salts, and are positive multiples of the grain, at most 0.5 % below the price", () => {
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
  it("contains exactly the candidates at the requested positions", () => {
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
    ["is not known when an invoice at another price holds the plain price", [], null, true, 10, undefined],
    ["is not known when another price holds the plain price and salts are taken", [1, 2], 2, true, 10, undefined],
    ["is 0 when only higher salts are taken", [1, 2], 2, false, 10, 0],
    ["is the first gap between taken salts", [0, 1, 3], 3, true, 10, 2],
    ["is one above the greatest taken salt when those that were read have no gap", dense, 90, true, 1_000, 91],
    ["is the first gap in the salts that were read, even if a greater one is taken", [0, 2], 9, true, 10, 1],
    ["does not exist when all are taken", [0, 1, 2], 2, true, 3, undefined],
    ["does not exist when the plain price is the only candidate and is taken", [0], 0, true, 1, undefined],
    [
      "is not known when the salts that were read have no gap and the last one is taken",
      dense,
      99,
      true,
      100,
      undefined,
    ],
    ["is one above the salts that were read when the greatest is not known", [0, 1], null, true, 10, 2],
  ])("%s", (_why, takenSalts, maxSalt, isPriceTaken, capacity, salt) => {
    expect(firstSalt({ takenSalts, maxSalt, isPriceTaken }, capacity)).toBe(salt);
  });

  it("is always free and in range, and is undefined only if all salts or more than 64 are taken", () => {
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

  it("reaches every candidate exactly once when salts are reserved one after another", () => {
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

describe("the number of reserved amounts that triggers the warning for a price", () => {
  test.each([
    [1, undefined],
    [2, 2],
    [3, 3],
    [5, 4],
    [11, 9],
    [35, 28],
    [10_001, 8_001],
  ])("is 80 %% of %d candidates, rounded up, if there is more than one: %s", (capacity, mark) => {
    expect(amountsLowMark(capacity)).toBe(mark);
  });
});

describe("the position of an amount among the candidates for a price", () => {
  it("is the salt that gives the amount, and undefined for any other amount", () => {
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
