import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  asksInTurn,
  type Lap,
  lapAfter,
  PLACES,
  placeInRing,
  type Queue,
} from "../../../../src/detection/passes/turns/turn.ts";
import { type MerchantId, makeId } from "../../../../src/lib/ids.ts";
import { RUNS } from "../../../support/property-runs.ts";

const merchant = (n: number): MerchantId => makeId("mer", String(n).padStart(26, "0"));
const queueOf = (n: number, count: number): Queue => ({
  merchantId: merchant(n),
  addresses: Array.from({ length: count }, (_, of) => `${n}.${of}`),
});
const counts = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3 }), fc.constant(50)), { maxLength: 70 });

/** A page of the ring of merchants, as storage returns it. */
function pageAfter(ring: readonly Queue[], after: string): readonly Queue[] {
  const behind = ring.filter(({ merchantId }) => merchantId > after);
  const before = ring.filter(({ merchantId }) => merchantId <= after);
  return [...behind, ...before].slice(0, PLACES);
}

describe("the addresses that a pass reads", () => {
  it("are divided evenly among the merchants, up to the limit of a pass", () => {
    fc.assert(
      fc.property(counts, (of) => {
        const page = of.map((count, n) => queueOf(n, count)).slice(0, PLACES);
        const asks = asksInTurn(page);
        const had = (n: number) => asks.filter(({ merchantId }) => merchantId === merchant(n)).length;
        const most = Math.max(0, ...page.map((_, n) => had(n)));
        for (const [n, { addresses }] of page.entries())
          expect(had(n)).toBeGreaterThanOrEqual(Math.min(addresses.length, most - 1));
        const all = page.reduce((sum, { addresses }) => sum + addresses.length, 0);
        expect(asks.length).toBe(Math.min(PLACES, all));
      }),
      { numRuns: RUNS },
    );
  });

  it("include addresses of every merchant within one round of passes, even if each pass reads only a few addresses", () => {
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: PLACES }), (of, asked) => {
        const ring = of.map((count, n) => queueOf(n, count));
        const live = ring.filter(({ addresses }) => addresses.length > 0).map(({ merchantId }) => merchantId);
        const served = new Set<MerchantId>();
        let after = "";
        for (let pass = 0; pass <= Math.ceil(ring.length / asked); pass++) {
          const queues = pageAfter(ring, after);
          const asks = asksInTurn(queues);
          const settled = new Set(asks.slice(0, asked).map(({ address }) => address));
          for (const { merchantId } of asks.slice(0, asked)) served.add(merchantId);
          after = placeInRing({ queues, asks, after }, (address) => settled.has(address));
        }
        expect([...served].toSorted()).toEqual(live.toSorted());
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a lap through a merchant's addresses", () => {
  const row = (n: number, isStuck = false) => ({ address: `A${n}`, activatedAtMs: n, position: n, isStuck });
  const lap = (of: Partial<Lap>): Lap => ({
    merchantId: merchant(1),
    before: { activatedAtMs: 9, position: 9 },
    hasFound: false,
    found: [],
    end: null,
    ...of,
  });
  const after = (of: Partial<Lap>, settled: readonly string[]) =>
    lapAfter(lap(of), (address) => settled.includes(address));
  const TOP = { activatedAtMs: Number.MAX_SAFE_INTEGER, position: Number.MAX_SAFE_INTEGER };

  it.each<[string, Partial<Lap>, readonly string[], ReturnType<typeof after>]>([
    [
      "stays before the first address that was not read",
      { found: [row(8)] },
      [],
      { before: { activatedAtMs: 9, position: 9 }, hasFound: true, merchantId: merchant(1) },
    ],
    [
      "moves to the last address before one that was not read",
      { found: [row(8), row(7), row(6)] },
      ["A8", "A6"],
      { before: { activatedAtMs: 8, position: 8 }, hasFound: true, merchantId: merchant(1) },
    ],
    [
      "does not wait for a stuck address",
      { found: [row(8), row(7, true), row(6)] },
      ["A8"],
      { before: { activatedAtMs: 7, position: 7 }, hasFound: true, merchantId: merchant(1) },
    ],
    [
      "moves to the end of its range",
      { end: { activatedAtMs: 3, position: 3 } },
      [],
      { before: { activatedAtMs: 3, position: 3 }, hasFound: false, merchantId: merchant(1) },
    ],
    ["starts over at its end", { found: [row(8)] }, ["A8"], { before: TOP, hasFound: false, merchantId: merchant(1) }],
    [
      "starts over when nothing is left and it found something before",
      { hasFound: true },
      [],
      { before: TOP, hasFound: false, merchantId: merchant(1) },
    ],
    ["ends when it found nothing at all", {}, [], undefined],
  ])("%s", (_, of, settled, expected) => {
    expect(after(of, settled)).toEqual(expected);
  });
});
