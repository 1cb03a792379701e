// A flood that takes several passes must end in the same state, no matter where a pass crashes or what the chain does meanwhile: nothing may be lost
// or credited twice.
import { describe, expect, it } from "vitest";
import type { Payment } from "../../../src/commerce/payments/payment.ts";
import { randomFrom } from "../../support/random.ts";
import { StatementLimit } from "../../support/statement-limit.ts";
import { ASKED_UNITS, FloodWorld, floodOf, HONEST, honestPayment } from "./flood-world.ts";
import { SHARED_ADDRESS } from "./reorg-shop.ts";

const HOLDERS = 7;
const COUNT = 1_200;
const flood = floodOf(COUNT, (n) => 5_000_000n + BigInt(n % 500));
/** A transfer that pays an invoice at the flooded address. */
const paid = { cryptocurrency: "USDT", txHash: "paid", toAddress: SHARED_ADDRESS, amountUnits: ASKED_UNITS };

async function flooded() {
  const world = new FloodWorld();
  await world.stock(HOLDERS);
  await world.pass();
  const block = world.chain.mine([...flood, paid, honestPayment("same block")]);
  world.chain.mine([honestPayment("next block", HONEST[1])]);
  return { world, block };
}

async function undisturbed() {
  const { world, block } = await flooded();
  await world.passesUntil(block.height + 1, 20);
  return world.outcome();
}

describe("a flood of transfers", () => {
  it.each([1, 2, 3, 4])("has the same result when passes crash anywhere (%i)", { timeout: 300_000 }, async (seed) => {
    const expected = await undisturbed();
    expect(expected.decided).toBe(COUNT);
    const { world, block } = await flooded();
    const random = randomFrom(seed);
    let died = 0;
    for (let n = 0; n < 300 && world.height <= block.height; n++) {
      world.limit = new StatementLimit(16 + Math.floor(random() * 30));
      await world.pass();
      died += world.ranOut ? 1 : 0;
    }
    world.limit = new StatementLimit();
    await world.passesUntil(block.height + 1, 20);
    expect(died).toBeGreaterThan(3);
    expect(world.outcome()).toEqual(expected);
  });

  it("has the same result when responses are lost after their statements ran", { timeout: 300_000 }, async () => {
    const expected = await undisturbed();
    const { world, block } = await flooded();
    const random = randomFrom(5);
    world.effect = async (_, work) => {
      const isLost = random() < 0.1;
      const answer = work();
      if (isLost) throw new Error("Network connection lost.");
      return answer;
    };
    for (let n = 0; n < 60 && world.height <= block.height; n++) await world.pass();
    world.effect = async (_, work) => work();
    await world.passesUntil(block.height + 1, 20);
    expect(world.outcome()).toEqual(expected);
  });

  it("has the same result without the records of omitted transfers, which the previous release does not keep", {
    timeout: 300_000,
  }, async () => {
    const expected = await undisturbed();
    const { world, block } = await flooded();
    world.limit = new StatementLimit(60);
    for (let n = 0; n < 6; n++) await world.pass();
    expect(world.count("select count(*) as n from left_out_transfers")).toBeGreaterThan(0);
    world.shop.run("delete from left_out_transfers");
    world.limit = new StatementLimit();
    // The overlap shows the omitted transfers again.
    world.chain.mine();
    await world.passesUntil(block.height + 2, 20);
    expect(world.outcome()).toEqual(expected);
  });

  it("whose block leaves the chain during processing is stored as the new blocks show it, and each payment is credited once", {
    timeout: 300_000,
  }, async () => {
    const { world } = await flooded();
    world.limit = new StatementLimit(90);
    for (let n = 0; n < 4; n++) await world.pass();
    world.limit = new StatementLimit();
    world.chain.drop(2);
    const half = flood.filter((_, n) => n % 2 === 0);
    world.chain.mine([...half, honestPayment("next block", HONEST[1])]);
    world.chain.mine([paid]);
    const last = world.chain.mine([honestPayment("same block")]);
    await world.passesUntil(last.height, 20);
    await world.pass();
    expect(world.height).toBe(last.height);
    const { credited } = world.outcome();
    expect(credited.map(({ tx_hash, status }) => [tx_hash, status])).toEqual([
      ["next block", "CONFIRMED"],
      ["paid", "CONFIRMED"],
      ["same block", "CONFIRMED"],
    ]);
    const onChain = (hash: string) => world.chain.at(last.height - 2)?.hash === hash;
    const rows = world.shop.rows(
      "select distinct tx_hash, block_hash, status from payments where tx_hash like 'flood%'",
    );
    const isHalf = new Set(half.map(({ txHash }) => txHash));
    for (const { tx_hash, block_hash, status } of rows) {
      expect([tx_hash, status]).toEqual([tx_hash, isHalf.has(String(tx_hash)) ? "UNMATCHED" : "REORGED"]);
      if (isHalf.has(String(tx_hash))) expect(onChain(String(block_hash))).toBe(true);
    }
    const decided = world.shop.rows("select tx_hash, block_hash from left_out_transfers");
    const known = new Set(
      [...rows, ...decided.filter(({ block_hash }) => onChain(String(block_hash)))].map((row) => row.tx_hash),
    );
    for (const txHash of isHalf) expect(known).toContain(txHash);
  });
});

describe("the rows of a flood of transfers", () => {
  it("become final when their block is read, with few statements per pass and without a request for each row", {
    timeout: 300_000,
  }, async () => {
    const world = new FloodWorld();
    await world.stock(100);
    await world.pass();
    const block = world.chain.mine(floodOf(100));
    await world.passesUntil(block.height, 10);
    expect(world.count("select count(*) as n from payments where final_at_ms is null")).toBe(10_000);
    world.chain.mineMany(70);
    const asked = world.source.asked("lookup");
    const statements: number[] = [];
    const isOpen = () => world.count("select count(*) as n from payments where final_at_ms is null") > 0;
    while (isOpen() && statements.length < 5) statements.push(await world.pass());
    expect(isOpen()).toBe(false);
    expect(Math.max(...statements)).toBeLessThan(500);
    expect(world.source.asked("lookup")).toBe(asked);
  });

  it("change in batches when their block changes", { timeout: 300_000 }, async () => {
    const world = new FloodWorld();
    await world.stock(60);
    await world.pass();
    const block = world.chain.mine(floodOf(100));
    await world.passesUntil(block.height, 10);
    world.chain.drop(1);
    const other = world.chain.mine(floodOf(100));
    world.chain.mine([honestPayment("next block")]);
    const first = await world.pass();
    expect(world.statusOf(HONEST[0])).toBe("PAID");
    const passes = [first, ...(await world.passesUntil(other.height + 1, 10))];
    expect(Math.max(...passes)).toBeLessThan(500);
    const rows: Pick<Payment, "status">[] = world.shop.rows(
      "select distinct block_hash, status from payments where invoice_id is null",
    ) as never;
    expect(rows).toEqual([{ block_hash: other.hash, status: "UNMATCHED" }]);
  });
});
