import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type HeldAmount, nearestOf, type Side } from "../../../../src/detection/matching/around/nearest.ts";
import type { InvoiceId } from "../../../../src/lib/ids.ts";
import { amountKey, shelvesAt } from "../../../../src/platform/db/amount-order.ts";

const invoice = (n: number): InvoiceId => `inv_${n}`;
const HELD = fc.record({
  units: fc.bigInt({ min: 1n, max: 60n }),
  invoiceId: fc.integer({ min: 1, max: 6 }).map(invoice),
});

/** The expected distances, computed from all amounts. */
function honest(wanted: bigint, held: readonly HeldAmount[], limit: number): readonly number[] {
  const distance = ({ units }: HeldAmount) =>
    Number((wanted > units ? wanted - units : units - wanted) * 10n ** 9n) / Number(units);
  const best = [...Map.groupBy(held, ({ invoiceId }) => invoiceId).values()].map((all) =>
    Math.min(...all.map(distance)),
  );
  return best.toSorted((a, b) => a - b).slice(0, limit);
}

/** Reads two groups of the held amounts, each upwards and downwards, with at most `most` amounts per read. */
function sidesOf(wanted: bigint, held: readonly HeldAmount[], most: number): readonly Side[] {
  const shelves = [...Map.groupBy(held, ({ invoiceId }) => Number(invoiceId.slice(4)) % 2).values()];
  return shelves.flatMap((shelf) => {
    const sorted = shelf.toSorted((a, b) => Number(a.units - b.units));
    const [above, below] = [
      sorted.filter(({ units }) => units >= wanted),
      sorted.filter(({ units }) => units < wanted).toReversed(),
    ];
    return [above, below].map((side) => ({ held: side.slice(0, most), isCut: side.length >= most }));
  });
}

describe("the nearest amount of each invoice", () => {
  it("is correct whenever limited reads report that they are complete", () => {
    let wholes = 0;
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 60n }),
        fc.array(HELD, { maxLength: 25 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 4 }),
        (wanted, held, most, limit) => {
          const sides = sidesOf(wanted, held, most);
          const { amounts, isWhole } = nearestOf(wanted, sides, limit);
          expect(new Set(amounts.map(({ invoiceId }) => invoiceId)).size).toBe(amounts.length);
          if (sides.every(({ isCut }) => !isCut)) expect(isWhole).toBe(true);
          if (!isWhole) return;
          wholes++;
          expect(honest(wanted, amounts, limit)).toEqual(honest(wanted, held, limit));
        },
      ),
    );
    expect(wholes).toBeGreaterThan(10);
  });

  it("is reported as incomplete when one invoice fills a limited read", () => {
    const filled = Array.from({ length: 5 }, (_, n) => ({ units: 100n + BigInt(n), invoiceId: invoice(1) }));
    expect(nearestOf(100n, [{ held: filled, isCut: true }], 2)).toEqual({ amounts: [filled[0]], isWhole: false });
    expect(nearestOf(100n, [{ held: filled, isCut: false }], 2).isWhole).toBe(true);
  });

  it("is found even when amounts of 18 decimals differ by one unit", () => {
    const wanted = 10n ** 24n;
    const held = [2n, 1n].map((more) => ({ units: wanted + more, invoiceId: invoice(Number(more)) }));
    expect(nearestOf(wanted, [{ held, isCut: false }], 1).amounts).toEqual([held[1]]);
  });
});

it("the keys of amounts sort like the amounts", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 78n }), fc.bigInt({ min: 0n, max: 10n ** 30n }), (a, b) => {
      expect(amountKey(a) < amountKey(b)).toBe(a < b);
      expect(amountKey(a) === amountKey(b)).toBe(a === b);
    }),
  );
});

it("the amounts of open invoices are found on fewer than 60 shelves of the index", () => {
  const atMs = 1_800_000_000_000;
  expect(shelvesAt({ atMs, untilMs: atMs + 30 * 60_000 }).flatMap(({ each }) => each).length).toBeLessThan(60);
});
