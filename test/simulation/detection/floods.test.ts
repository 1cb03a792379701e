// A flood of transfers to one address must not block anyone: each pass stays far below D1's limit for an invocation, continues where the last one
// stopped, and credits others first.
import { describe, expect, it } from "vitest";
import { FloodWorld, floodOf, HONEST, honestPayment } from "./flood-world.ts";

/** Half of the statements that D1 allows in one invocation. */
const MOST = 500;
const MOST_PASSES = 10;

const WORTHS = [500_000n, 5_000_000n, 5_000_001n, 300_000_000n, 3_000_000_000n];
const FLOODS: Readonly<Record<string, (n: number) => bigint>> = {
  "one amount": () => 5_000_000n,
  "10,000 amounts": (n) => 5_000_000n + BigInt(n),
  "all substantial orders": (n) => (WORTHS[n % WORTHS.length] ?? 0n) + BigInt(n),
  dust: () => 7n,
};

const KINDS = `select merchant_id, status, case when usd_micros < 1000000 then 0 when usd_micros < 10000000 then 1
  when usd_micros < 100000000 then 2 when usd_micros < 1000000000 then 3 else 4 end as kind`;

describe("a block of transfers to one address", () => {
  it.each([
    ["one amount", 60, 300],
    ["one amount", 100, 10_000],
    ["10,000 amounts", 100, 10_000],
    ["all substantial orders", process.env.DEEP ? 100 : 20, 10_000],
    ["dust", 100, 10_000],
  ])(
    "(%s, %i merchants, %i transfers) takes at most ten passes with few statements each, and payments to other addresses take one pass",
    { timeout: 600_000 },
    async (name, holders, count) => {
      const units = FLOODS[name];
      if (units === undefined) throw new Error(name);
      const world = new FloodWorld();
      await world.stock(holders);
      await world.pass();
      const flooded = world.chain.mine([...floodOf(count, units), honestPayment("same block")]);
      world.chain.mine([honestPayment("next block", HONEST[1])]);
      const first = await world.pass();
      expect([world.statusOf(HONEST[0]), world.statusOf(HONEST[1])]).toEqual(["PAID", "PAID"]);
      const passes = [first, ...(await world.passesUntil(flooded.height, MOST_PASSES - 1))];
      expect(world.height).toBeGreaterThanOrEqual(flooded.height);
      expect(Math.max(...passes)).toBeLessThan(MOST);
      // Each transfer was processed, and no merchant was notified of more transfers of one kind than the daily limit.
      const decided = "select tx_hash from payments union select tx_hash from left_out_transfers";
      expect(world.count(`select count(*) as n from (${decided}) where tx_hash like 'flood%'`)).toBe(count);
      const most = `select max(rows) as n from (${KINDS}, count(*) as rows from payments where invoice_id is null group by 1, 2, 3)`;
      expect(world.count(most)).toBe(100);
      // The overlap shows the transfers again, and none is processed again.
      world.chain.mine();
      expect(await world.pass()).toBeLessThan(60);
    },
  );
});
