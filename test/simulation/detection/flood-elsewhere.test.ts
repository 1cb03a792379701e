// A flood that the first source does not show, or refuses to serve. Each way of reading it must stay within a pass's
// statements, let the cursor advance, and credit honest customers' payments meanwhile.
import { describe, expect, it } from "vitest";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { DAY_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { ASKED_UNITS, FloodWorld, floodOf, HONEST, honestPayment } from "./flood-world.ts";
import { SHARED_ADDRESS, START_MS } from "./reorg-shop.ts";

/** Half of the statements that D1 allows in one invocation. */
const MOST = 500;
const MOST_PASSES = 10;
const HOLDERS = 100;
const COUNT = 10_000;
/** Each transfer of the flood has a different amount. */
const flood = floodOf(COUNT, (n) => 5_000_000n + BigInt(n));
/** A transfer that pays an invoice at the flooded address. */
const ownPayment = { cryptocurrency: "USDT", txHash: "own", toAddress: SHARED_ADDRESS, amountUnits: ASKED_UNITS };
const BY_ADDRESS = { kind: "trongrid", costsBy: "recipients" } as const;
const BY_BLOCK = { kind: "tron-rpc", costsBy: "blocks" } as const;

async function worldOf(
  network: "ETH" | "TRX",
  sources: readonly Pick<ChainClient, "kind" | "costsBy">[],
): Promise<FloodWorld> {
  const world = new FloodWorld({ network, sources });
  await world.stock(HOLDERS);
  await world.pass();
  return world;
}

/** A block full of the flood's transfers, then one with honest payments: one to the flooded address, and one to another address. */
function mineFlood({ chain }: FloodWorld) {
  const block = chain.mine(flood);
  chain.mine([ownPayment, honestPayment("next block")]);
  return block;
}

const decided = (world: FloodWorld) => world.outcome().decided;

/** Runs passes until the flood is processed and the invoice at its address is paid; no pass may take many statements. */
async function passesUntilDecided(world: FloodWorld, most: number): Promise<readonly number[]> {
  const statements: number[] = [];
  while ((decided(world) < COUNT || world.statusOf(1) !== "PAID") && statements.length < most)
    statements.push(await world.pass());
  expect(world.ranOut).toBe(false);
  expect(Math.max(...statements)).toBeLessThan(MOST);
  return statements;
}

describe("a flood of transfers at an address that the first source refuses", () => {
  it.each([
    ["reads blocks", BY_BLOCK, MOST_PASSES],
    ["is read by address", { ...BY_ADDRESS, kind: "blockbook" } as const, 120],
  ])(
    "delays no other address when it is read through a second source, which %s",
    {
      timeout: 600_000,
    },
    async (_, second, most) => {
      const world = await worldOf("TRX", [BY_ADDRESS, second]);
      world.source.faults.set(SHARED_ADDRESS, "BAD_STATUS");
      // Passes that record the address as refused.
      for (let n = 0; n < 3; n++) {
        world.chain.mine();
        await world.pass();
      }
      const block = mineFlood(world);
      expect(await world.pass()).toBeLessThan(MOST);
      expect(world.statusOf(HONEST[0])).toBe("PAID");
      const passes = await world.passesUntil(block.height + 1, MOST_PASSES - 1);
      expect(Math.max(0, ...passes)).toBeLessThan(MOST);
      expect(world.height).toBe(block.height + 1);
      await passesUntilDecided(world, most);
      expect([decided(world), world.statusOf(1)]).toEqual([COUNT, "PAID"]);
    },
  );
});

it("a flood of transfers at an address that a source refused delays no other address once a source that reads full blocks takes over", {
  timeout: 600_000,
}, async () => {
  const world = await worldOf("TRX", [BY_ADDRESS, BY_BLOCK]);
  const [first, second] = world.sources;
  if (first === undefined || second === undefined) throw new Error("two sources");
  first.faults.set(SHARED_ADDRESS, "BAD_STATUS");
  second.down = "UNREACHABLE";
  for (let n = 0; n < 3; n++) {
    world.chain.mine();
    await world.pass();
  }
  const block = mineFlood(world);
  await world.passesUntil(block.height + 1, 3);
  expect([world.statusOf(HONEST[0]), world.statusOf(1), decided(world)]).toEqual(["PAID", "AWAITING_PAYMENT", 0]);
  world.chain.mineMany(40);
  await world.passesUntil(world.chain.tip.height, 3);

  first.down = "UNREACHABLE";
  second.down = undefined;
  world.chain.mine([honestPayment("later", HONEST[1])]);
  world.nowMs += 10 * MINUTE_MS;
  const statements = [await world.pass()];
  statements.push(...(await world.passesUntil(world.chain.tip.height, MOST_PASSES - 1)));
  expect([world.height, world.statusOf(HONEST[1])]).toEqual([world.chain.tip.height, "PAID"]);
  expect(Math.max(...statements)).toBeLessThan(MOST);
  await passesUntilDecided(world, MOST_PASSES);
  expect([decided(world), world.statusOf(1)]).toEqual([COUNT, "PAID"]);
});

it("a flood of transfers that only a second source shows before invoices expire delays no other invoice, and all are paid", {
  timeout: 600_000,
}, async () => {
  const world = await worldOf("ETH", [
    { kind: "evm-rpc", costsBy: "blocks" },
    { kind: "evm-rpc", costsBy: "blocks" },
  ]);
  world.source.isEmpty = true;
  const block = mineFlood(world);
  await world.passesUntil(block.height + 1, 2);
  expect([world.statusOf(HONEST[0]), decided(world)]).toEqual(["AWAITING_PAYMENT", 0]);

  const expired = world.chain.mine([], START_MS + DAY_MS + MINUTE_MS);
  const statements = [await world.pass()];
  expect(world.statusOf(HONEST[0])).toBe("PAID");
  statements.push(...(await world.passesUntil(expired.height, MOST_PASSES - 1)));
  expect(world.height).toBe(expired.height);
  const passedMs = () => world.count("select passed_ms as n from network_cursors");
  while (passedMs() <= START_MS + DAY_MS && statements.length < 2 * MOST_PASSES) statements.push(await world.pass());
  expect(passedMs()).toBeGreaterThan(START_MS + DAY_MS);
  expect(Math.max(...statements)).toBeLessThan(MOST);
  // Once the invoice is paid, no invoice waits for the rest of the flood, which the first source does not show.
  expect(world.statusOf(1)).toBe("PAID");
  expect(decided(world)).toBeGreaterThan(0);
});
