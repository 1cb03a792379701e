import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MempoolIndex } from "../../../../src/chains/bitcoin/mempool-index.ts";
import { RUNS } from "../../../support/property-runs.ts";

const txidOf = (n: number) => n.toString(16).padStart(13, "0").padEnd(64, "0");

describe("the index of a mempool", () => {
  test("contains each output once even if its transaction is added repeatedly, and drops transactions that have left", () => {
    const index = new MempoolIndex();
    index.unseen([txidOf(1), txidOf(2)]);
    for (let read = 0; read < 5; read++) index.add(txidOf(1), ["a", "b"]);
    index.add(txidOf(2), ["c"]);
    expect(index.size).toBe(3);
    index.unseen([txidOf(2)]);
    expect(index.size).toBe(1);
    expect(index.paying([txidOf(2)], new Set(["a", "c"]))).toEqual([txidOf(2)]);
  });

  test("finds every transaction that pays an address while transactions arrive and leave", () => {
    const transactions = fc.array(fc.array(fc.nat(9), { maxLength: 3 }), { maxLength: 12 });
    const readings = fc.array(fc.record({ present: fc.infiniteStream(fc.boolean()), asked: fc.nat(9) }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(transactions, readings, (outputs, steps) => {
        const index = new MempoolIndex();
        for (const { present, asked } of steps) {
          const listed = outputs.map((_, n) => n).filter(() => present.next().value);
          const { fresh, waiting } = index.unseen(listed.map(txidOf));
          for (const txid of [...fresh, ...waiting])
            index.add(
              txid,
              (outputs[listed.find((n) => txidOf(n) === txid) ?? -1] ?? []).map((to) => `address${to}`),
            );
          const paying = listed.filter((n) => outputs[n]?.includes(asked)).map(txidOf);
          expect(index.paying(listed.map(txidOf), new Set([`address${asked}`]))).toEqual(paying);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
