import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  type AmountGrain,
  mayHold,
  nextSalt,
  plainUnits,
  randomSaltAfter,
  saltCapacity,
  saltedUnits,
} from "../../../src/invoices/direct-amount.ts";
import { RUNS } from "../../support/property-runs.ts";

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
    expect(() => saltedUnits(200n, bitcoin, 2)).toThrow(/beyond/);
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

describe("the next salt", () => {
  const dense = Array.from({ length: 64 }, (_, i) => i);
  test.each<
    [why: string, takenSalts: number[], maxTakenSalt: number | undefined, capacity: number, salt: number | undefined]
  >([
    ["nothing taken: the plain price", [], undefined, 10, 0],
    ["the plain price is taken", [0], 0, 10, 1],
    ["a gap at the plain price", [1, 2], 2, 10, 0],
    ["a gap between", [0, 1, 3], 3, 10, 2],
    ["all of those read are taken: after the greatest", dense, 90, 1_000, 91],
    ["a gap among those read, though the greatest is the last", [0, 2], 9, 10, 1],
    ["all taken", [0, 1, 2], 2, 3, undefined],
    ["a price with the plain amount only", [0], 0, 1, undefined],
    ["taken to the end, a gap beyond those read is not seen", dense, 99, 100, undefined],
    ["a greatest behind those read", [0, 1], undefined, 10, 2],
  ])("%s", (_why, takenSalts, maxTakenSalt, capacity, salt) => {
    expect(nextSalt({ takenSalts, maxTakenSalt, capacity })).toBe(salt);
  });

  it("is always free and a candidate, and is found whenever a look at 64 can find one", () => {
    const taken = fc.uniqueArray(fc.nat({ max: 120 }), { maxLength: 121 });
    fc.assert(
      fc.property(taken, fc.integer({ min: 1, max: 121 }), (salts, capacity) => {
        const all = salts.filter((salt) => salt < capacity).toSorted((a, b) => a - b);
        const salt = nextSalt({ takenSalts: all.slice(0, 64), maxTakenSalt: all.at(-1), capacity });
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
      const salt = nextSalt({ takenSalts: taken.slice(0, 64), maxTakenSalt: taken.at(-1), capacity });
      if (salt === undefined) break;
      taken.push(salt);
    }
    expect(taken).toEqual(Array.from({ length: 201 }, (_, i) => i));
  });
});

describe("after a collision", () => {
  test.each([
    ["the first of the next 64", 10, 1_000, 0, 11],
    ["the last of the next 64", 10, 1_000, 0.999_999, 74],
    ["fewer are left", 10, 13, 0.999_999, 12],
    ["one is left", 10, 12, 0.5, 11],
    ["none is left", 10, 11, 0.5, undefined],
  ])("%s", (_why, salt, capacity, random, next) => {
    expect(randomSaltAfter({ salt, takenSalts: [], capacity, random })).toBe(next);
  });
});

describe("after a collision with others that are known", () => {
  test.each([0, 0.3, 0.7, 0.999_999])("a taken one is never drawn (%d)", (random) => {
    const takenSalts = Array.from({ length: 63 }, (_, i) => i + 11).filter((salt) => salt !== 42);
    expect([42, 74]).toContain(randomSaltAfter({ salt: 10, takenSalts, capacity: 1_000, random }));
  });

  test("nothing is drawn when all of the next 64 are taken", () => {
    const takenSalts = Array.from({ length: 64 }, (_, i) => i + 11);
    expect(randomSaltAfter({ salt: 10, takenSalts, capacity: 1_000, random: 0.5 })).toBeUndefined();
  });
});

describe("a shared address", () => {
  test.each([
    ["not shared: all of them", false, 10_001, 10_001, true],
    ["below half", true, 4, 10, true],
    ["half", true, 5, 10, false],
    ["half of an odd number is rounded up", true, 5, 11, true],
    ["and no further", true, 6, 11, false],
    ["the only one", true, 0, 1, true],
    ["the only one, held", true, 1, 1, false],
  ])("%s", (_why, isShared, ownCount, capacity, may) => {
    expect(mayHold({ isShared, ownCount, capacity })).toBe(may);
  });
});
