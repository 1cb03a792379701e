import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { explainerMark, growthIdentity, type Transfer, transferKey } from "../../../../src/chains/sources/transfer.ts";
import type { StoredPayment } from "../../../../src/commerce/payments/payment.ts";
import { type PlaceInBlock, type StoredGrowth, weighPlace } from "../../../../src/detection/growth/weigh-growth.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { RUNS } from "../../../support/property-runs.ts";

const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const block = { height: 7, hash: "h7", timeMs: 1 };
const hashOf = (n: number) => `0x${String(n).padStart(64, "0").split("").toReversed().join("")}`;

const transferOf = (n: number, amountUnits: bigint): Transfer => ({
  cryptocurrency: "ETH",
  txHash: hashOf(n),
  outputIndex: "native",
  fromAddress: null,
  toAddress: ADDRESS,
  amountUnits,
  block,
  spends: [],
  raw: "{}",
});
const growthOf = (units: bigint, explainedBy: readonly string[] = []): Transfer => ({
  ...transferOf(0, units),
  ...growthIdentity({ height: block.height, toAddress: ADDRESS, units }),
  growth: { explainedBy },
});
const rowOf = ({ txHash, outputIndex, amountUnits, growth }: Transfer): StoredPayment => ({
  id: makeId("pay", "0".repeat(26)),
  merchantId: makeId("mer", "0".repeat(26)),
  invoiceId: null,
  network: "ETH",
  cryptocurrency: "ETH",
  chainId: 1,
  txHash,
  outputIndex,
  fromAddress: null,
  toAddress: ADDRESS,
  amountUnits,
  fiatMicros: null,
  usdMicros: null,
  wasIgnored: false,
  status: "UNMATCHED",
  confirmations: 1,
  isLate: false,
  requiredConfirmations: 1,
  blockHeight: 7,
  blockHash: "h7",
  blockTimeMs: 1,
  matchedBy: null,
  receivedAtMs: 1,
  confirmedAtMs: null,
  reorgedAtMs: null,
  lastKnownAtMs: 1,
  finalAtMs: null,
  resolution: null,
  marketMicros: null,
  weighedBy: null,
  weighedQuote: null,
  createdAtMs: 1,
  updatedAtMs: 1,
  evidence: JSON.stringify({ raw: "{}", spends: [], candidates: [], explainedBy: growth?.explainedBy }),
});

const storedOf = (rows: ReadonlyMap<string, Transfer>): readonly StoredGrowth[] =>
  [...rows.values()].map((each) => ({
    rows: [rowOf(each)],
    explainedBy: each.growth?.explainedBy ?? [],
  }));

/** The stored rows of one address in one block. An observation changes them in two batches. */
class Ledger {
  readonly payments = new Map<string, Transfer>();
  readonly growth = new Map<string, Transfer>();
  /** Growth that was dropped because transactions explain it. */
  readonly explained = new Map<string, Transfer>();

  look(read: { readonly growth: Transfer | undefined; readonly fresh: readonly Transfer[] }, diesBetween = false) {
    const stored = [...this.payments.values()].map(({ txHash, amountUnits: units }) => ({ txHash, units }));
    const [storedGrowth, explained] = [storedOf(this.growth), storedOf(this.explained)];
    const weighed = weighPlace({ ...read, block, storedGrowth, explained, stored } satisfies PlaceInBlock);
    for (const each of read.fresh) this.payments.set(transferKey(each), each);
    for (const key of weighed.replaced.map(transferKey)) {
      this.explained.set(key, this.growth.get(key) ?? growthOf(0n));
      this.growth.delete(key);
    }
    if (weighed.growth !== null && !diesBetween && !this.growth.has(transferKey(weighed.growth)))
      this.growth.set(transferKey(weighed.growth), weighed.growth);
  }

  get units(): bigint {
    return [...this.payments.values(), ...this.growth.values()].reduce((sum, each) => sum + each.amountUnits, 0n);
  }
}

/**
 * What an address received in a block, from transactions (`paid`) and from contracts (`inside`). A source shows some of the transactions and
 * subtracts them from the balance's growth; a claim shows only one transaction.
 */
const facts = fc.record({
  paid: fc.array(fc.bigInt({ min: 1n, max: 9n }), { maxLength: 4 }),
  inside: fc.bigInt({ min: 0n, max: 9n }),
  looks: fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant("source" as const),
        knows: fc.array(fc.nat(3), { maxLength: 4 }),
        dies: fc.boolean(),
      }),
      fc.record({ kind: fc.constant("claim" as const), of: fc.nat(3), dies: fc.boolean() }),
    ),
    { minLength: 1, maxLength: 8 },
  ),
});

const here = { block, explained: [] };

describe("balance growth and the transactions that explain it", () => {
  it("never count a coin twice and, after a source was read, miss no coin, in whatever order blocks are read", () => {
    fc.assert(
      fc.property(facts, ({ paid, inside, looks }) => {
        const ledger = new Ledger();
        const rose = paid.reduce((sum, units) => sum + units, inside);
        const transfers = paid.map((units, n) => transferOf(n + 1, units));
        let isRead = false;
        for (const each of looks) {
          const known = each.kind === "claim" ? [each.of] : each.knows;
          const fresh = transfers.filter((_, n) => known.includes(n));
          const units = rose - fresh.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);
          const marks = fresh.map(({ txHash }) => explainerMark(txHash));
          const growth = each.kind === "claim" || units === 0n ? undefined : growthOf(units, marks);
          // After a crash before the second batch, the Worker reads the block again.
          if (each.dies) ledger.look({ growth, fresh }, true);
          expect(ledger.units).toBeLessThanOrEqual(rose);
          ledger.look({ growth, fresh });
          isRead ||= each.kind === "source";
          expect(ledger.units).toBeLessThanOrEqual(rose);
          if (isRead) expect(ledger.units).toBe(rose);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("stay the same when the same block is read again", () => {
    const growth = growthOf(5n, [explainerMark(hashOf(1))]);
    const storedGrowth = [{ rows: [rowOf(growth)], explainedBy: [explainerMark(hashOf(1))] }];
    const stored = [{ txHash: hashOf(1), units: 2n }];
    const weighed = weighPlace({ ...here, growth, fresh: [transferOf(1, 2n)], storedGrowth, stored });
    expect(weighed).toEqual({ growth, replaced: [], by: [] });
  });

  it("keep the first growth if two sources report different balances", () => {
    const storedGrowth = [{ rows: [rowOf(growthOf(5n))], explainedBy: [] }];
    const weighed = weighPlace({ ...here, growth: growthOf(6n), fresh: [], storedGrowth, stored: [] });
    expect(weighed).toEqual({ growth: null, replaced: [], by: [] });
  });

  it("allow the growth to be removed by the batch that stores any of several new transactions", () => {
    const storedGrowth = [{ rows: [rowOf(growthOf(9n))], explainedBy: [] }];
    const fresh = [transferOf(1, 2n), transferOf(2, 3n), transferOf(3, 1n)];
    const stored = [{ txHash: hashOf(3), units: 1n }];
    const { by } = weighPlace({ ...here, growth: undefined, fresh, storedGrowth, stored });
    expect(by).toEqual(fresh.slice(0, 2).map(transferKey));
  });

  it("allow the growth to be removed without such a batch if its transactions are already stored", () => {
    const storedGrowth = [{ rows: [rowOf(growthOf(5n))], explainedBy: [] }];
    const stored = [{ txHash: hashOf(1), units: 5n }];
    const weighed = weighPlace({ ...here, growth: undefined, fresh: [transferOf(1, 5n)], storedGrowth, stored });
    expect(weighed).toMatchObject({ growth: null, by: [] });
    expect(weighed.replaced).toHaveLength(1);
  });
});
