// Every way to read transfers has a budget: not only scans of blocks, but also reads by address, rereads of ranges, lookups of one transaction, and
// rechecks of open payments.
import { describe, expect, it } from "vitest";
import { lookForClaim } from "../../../src/detection/passes/look-for-claim.ts";
import { lookForMerchant } from "../../../src/detection/passes/look-for-merchant.ts";
import { WatchMemory } from "../../../src/detection/passes/watch-pass.ts";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { network } from "../../support/named-network.ts";
import { FloodWorld, floodOf, HONEST, honestPayment, invoiceAt } from "./flood-world.ts";
import { SHARED_ADDRESS } from "./reorg-shop.ts";

const MOST = 500;
const ETH = network("ETH");
const MERCHANT: MerchantId = "mer_00000000000000000000000000";
const distinct = (n: number) => 5_000_000n + BigInt(n);
/** One transaction with many transfers. */
const oneTransaction = (count: number) =>
  floodOf(count, distinct).map((sent, n) => ({ ...sent, txHash: "one", outputIndex: String(n) }));

describe("a flood of transfers", () => {
  it("read by address is processed with few statements per pass, and delays no other address", {
    timeout: 300_000,
  }, async () => {
    const world = new FloodWorld({ sources: [{ kind: "evm-rpc", costsBy: "recipients" }] });
    await world.stock(100);
    await world.pass();
    const block = world.chain.mine([...floodOf(3_000, distinct), honestPayment("same block")]);
    world.chain.mine([honestPayment("next block", HONEST[1])]);
    const statements = [await world.pass()];
    expect([world.statusOf(HONEST[0]), world.statusOf(HONEST[1])]).toEqual(["PAID", "PAID"]);
    const decided = () => world.outcome().decided;
    for (let n = 0; n < 60 && decided() < 3_000; n++) statements.push(await world.pass());
    expect([decided(), world.height > block.height]).toEqual([3_000, true]);
    expect(Math.max(...statements)).toBeLessThan(MOST);
  });

  it("in a reread range is processed with few statements per pass, and the reread is completed", {
    timeout: 300_000,
  }, async () => {
    const world = new FloodWorld();
    await world.stock(100);
    await world.pass();
    const flood = world.chain.mine([...floodOf(5_000, distinct), honestPayment("same block")]);
    world.source.isEmpty = true;
    world.chain.mineMany(100);
    await world.passesUntil(flood.height + 100, 10);
    world.source.isEmpty = false;
    const { shop, nowMs } = world;
    shop.run(
      "insert into network_rereads (network, from_height, to_height, next_height, requested_at_ms) values ('ETH', ?, ?, ?, ?)",
      flood.height,
      flood.height + 5,
      flood.height,
      nowMs,
    );
    const statements = [await world.pass()];
    expect(world.statusOf(HONEST[0])).not.toBe("AWAITING_PAYMENT");
    const isOpen = () => world.count("select count(*) as n from network_rereads where ended_at_ms is null") > 0;
    for (let n = 0; n < 20 && isOpen(); n++) statements.push(await world.pass());
    expect([isOpen(), world.outcome().decided]).toEqual([false, 5_000]);
    expect(Math.max(...statements)).toBeLessThan(MOST);
  });

  it("in one transaction takes few statements when a claim looks it up, and the lookup reports that not everything was applied", {
    timeout: 300_000,
  }, async () => {
    const world = new FloodWorld();
    await world.stock(100);
    await world.pass();
    world.chain.mine(oneTransaction(6_000));
    const outcomes: string[] = [];
    const statements: number[] = [];
    while (outcomes.at(-1) !== "FOUND" && outcomes.length < 10)
      statements.push(
        await world.invoke(async (deps) => {
          outcomes.push(await lookForClaim(deps, ETH, new WatchMemory(), "one"));
        }),
      );
    expect(outcomes).toEqual([...outcomes.slice(1).map(() => "UNAVAILABLE"), "FOUND"]);
    expect(outcomes.length).toBeGreaterThan(1);
    expect(Math.max(...statements)).toBeLessThan(MOST);
  });

  it("in one transaction is stored for a merchant that looks it up, over several lookups with few statements each", {
    timeout: 300_000,
  }, async () => {
    const world = new FloodWorld();
    await world.stock(100);
    await world.pass();
    world.chain.mine(oneTransaction(3_000));
    const outcomes: string[] = [];
    const statements: number[] = [];
    while (outcomes.at(-1) !== "FOUND" && outcomes.length < 20)
      statements.push(
        await world.invoke(async (deps) => {
          outcomes.push(await lookForMerchant(deps, ETH, { merchantId: MERCHANT, txHash: "one" }));
        }),
      );
    expect(outcomes.at(-1)).toBe("FOUND");
    expect(world.count("select count(*) as n from payments where merchant_id = ?", MERCHANT)).toBe(3_000);
    expect(
      world.count(
        "select max(n) as n from (select count(*) as n from payments where merchant_id <> ? group by merchant_id)",
        MERCHANT,
      ),
    ).toBe(100);
    expect(Math.max(...statements)).toBeLessThan(MOST);
  });
});

it("an unmatched transfer is listed for 100 merchants at its address, and for any other merchant that looks it up", {
  timeout: 300_000,
}, async () => {
  const world = new FloodWorld();
  await world.stock(103);
  await world.pass();
  const block = world.chain.mine(floodOf(1));
  await world.passesUntil(block.height, 2);
  expect(world.count("select count(*) as n from payments")).toBe(100);
  const [last] = world.shop.rows("select max(merchant_id) as id from wallets");
  const of = { merchantId: String(last?.id) as MerchantId, txHash: "flood 000000" };
  const listed = () => world.count("select count(*) as n from payments where merchant_id = ?", of.merchantId);
  expect(listed()).toBe(0);
  await world.invoke(async (deps) => expect(await lookForMerchant(deps, ETH, of)).toBe("FOUND"));
  expect([listed(), world.count("select count(*) as n from payments")]).toEqual([1, 101]);
});

it("a block that pays 150 invoices is processed with few statements per pass, and each invoice is paid once", {
  timeout: 300_000,
}, async () => {
  const world = new FloodWorld();
  await world.stock(2);
  const asked = Array.from({ length: 150 }, (_, n) => ({ n: 100 + n, units: 200_000_000n + BigInt(n) * 1_000_000n }));
  await world.shop.open(asked.map(({ n, units }) => invoiceAt(n, SHARED_ADDRESS, units)));
  await world.pass();
  const [first] = floodOf(1);
  if (first === undefined) throw new Error("no transfer");
  const block = world.chain.mine(asked.map(({ n, units }) => ({ ...first, txHash: `paid ${n}`, amountUnits: units })));
  const statements = await world.passesUntil(block.height, 20);
  expect(Math.max(...statements)).toBeLessThan(MOST);
  expect(asked.map(({ n }) => world.statusOf(n))).toEqual(asked.map(() => "PAID"));
  expect(world.count("select count(*) as n from payments where invoice_id is not null")).toBe(150);
  expect(statements.length).toBeLessThanOrEqual(10);
});

it("an invoice paid by 150 transfers in one block is updated with few statements", { timeout: 300_000 }, async () => {
  const world = new FloodWorld();
  await world.stock(2);
  await world.pass();
  const block = world.chain.mine(Array.from({ length: 150 }, (_, n) => honestPayment(`part ${n}`)));
  const statements = await world.passesUntil(block.height, 5);
  expect(world.count("select count(*) as n from payments where status = 'CONFIRMED'")).toBe(150);
  expect(statements.length).toBe(1);
  expect(Math.max(...statements)).toBeLessThan(100);
});
