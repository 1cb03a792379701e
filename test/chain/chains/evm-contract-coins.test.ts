import { getAddress } from "viem";
import { describe, expect, it } from "vitest";
import { transferKey } from "../../../src/chains/sources/transfer.ts";
import type { Hex } from "../../support/anvil.ts";
import { dataOf, install } from "../../support/contracts.ts";
import {
  type Chain,
  chainOf,
  lookUp,
  must,
  next,
  PAYER,
  paid,
  rangeOf,
  recipient,
  recipients,
  SPOOFER,
  useChains,
} from "./evm-chains-harness.ts";

useChains();

describe("native coins sent by a contract", () => {
  async function payInside(chain: Chain, [one, two]: readonly [Hex, Hex, Hex]) {
    const forwarded = await chain.anvil.execute({ to: PAYER, value: 9n, data: dataOf("forward", one) });
    const parted = await chain.anvil.execute({ to: PAYER, value: 10n, data: dataOf("split", [one, two]) });
    const destroyed = await chain.anvil.execute({ to: PAYER, value: 11n, data: dataOf("destroy", two) });
    await install(chain.anvil, "Payer", PAYER);
    return { forwarded, parted, destroyed };
  }

  it("are found in Polygon's logs, and identified by their positions in the transaction", async () => {
    const chain = chainOf("POL");
    const shops = await recipients(chain);
    const [one, two] = shops;
    const from = await next(chain);
    const { forwarded, parted } = await payInside(chain, shops);
    const found = await paid(chain, from, shops);
    expect(
      found.map(({ txHash, toAddress, outputIndex, amountUnits }) => [txHash, toAddress, outputIndex, amountUnits]),
    ).toEqual([
      [forwarded.transactionHash, one, "0", 9n],
      [parted.transactionHash, one, "0", 5n],
      [parted.transactionHash, two, "1", 5n],
    ]);
    expect(found.every(({ cryptocurrency, fromAddress }) => cryptocurrency === "POL" && fromAddress === PAYER)).toBe(
      true,
    );
    expect(await lookUp(chain, parted.transactionHash, shops)).toMatchObject({ transfers: found.slice(1) });
  });

  it.each(["ETH", "BNB", "CRO"] as const)("are found in each block as growth of the balance on %s", async (name) => {
    const chain = chainOf(name);
    const shops = await recipients(chain);
    const [one, two] = shops;
    const from = await next(chain);
    const { forwarded, parted, destroyed } = await payInside(chain, shops);
    await chain.anvil.mine();
    await chain.anvil.execute({ to: one, value: 100n });
    const found = await paid(chain, from, shops);
    expect(found.filter(({ growth }) => growth === undefined)).toMatchObject([
      { toAddress: one, outputIndex: "native", amountUnits: 100n },
    ]);
    const grown = found.filter(({ growth }) => growth !== undefined);
    const named = (receipt: { readonly blockNumber: Hex; readonly blockHash: Hex }, shop: string, units: bigint) => [
      `block:${Number(receipt.blockNumber)}`,
      `balance:${shop}:${units}`,
      units,
      receipt.blockHash,
    ];
    expect(
      grown.map(({ txHash, outputIndex, amountUnits, block }) => [txHash, outputIndex, amountUnits, block?.hash]),
    ).toEqual([named(forwarded, one, 9n), named(parted, one, 5n), named(parted, two, 5n), named(destroyed, two, 11n)]);
    expect(new Set(found.map(transferKey)).size).toBe(5);

    // A scan of a different range over these blocks, and a lookup in one of them, must find the same growth.
    const later = await paid(chain, Number(parted.blockNumber), shops);
    expect(later.filter(({ growth }) => growth !== undefined)).toEqual(grown.slice(1));
    expect(await lookUp(chain, grown[2]?.txHash ?? "", [two])).toMatchObject({
      kind: "mined",
      block: { hash: parted.blockHash },
      transfers: grown.slice(2, 3),
    });
  });

  it("keep their identity when a reorg mines them in another block, and disappear if that block does not have them", async () => {
    const chain = chainOf("ETH");
    const shop = await recipient(chain);
    const from = await next(chain);
    const before = await chain.anvil.execute({ to: PAYER, value: 9n, data: dataOf("forward", shop) });
    const [first] = await paid(chain, from, [shop]);
    const raw = await chain.anvil.rawTransaction(before.transactionHash);
    await chain.anvil.reorg(1, [raw]);
    const after = await chain.anvil.receipt(before.transactionHash);
    expect(after.blockHash).not.toBe(before.blockHash);
    const [again, ...more] = await paid(chain, from, [shop]);
    expect(more).toEqual([]);
    expect(again).toMatchObject({ amountUnits: 9n, block: { hash: after.blockHash } });
    expect([again?.txHash, again?.outputIndex]).toEqual([first?.txHash, first?.outputIndex]);
    await chain.anvil.reorg(1);
    expect(await paid(chain, from, [shop])).toEqual([]);
    expect(await lookUp(chain, first?.txHash ?? "", [shop])).toMatchObject({ kind: "mined", transfers: [] });
  });

  it("are distinguished from plain payments and sweeps in the same block on ETH", async () => {
    const chain = chainOf("ETH");
    const { anvil } = chain;
    const shop = await recipient(chain);
    await anvil.rpc("anvil_impersonateAccount", shop);
    await anvil.execute({ to: shop, value: 10n ** 20n });
    const from = await next(chain);
    await anvil.together([
      { to: shop, value: 5n },
      { from: shop, to: SPOOFER, value: 10n ** 18n },
      { to: PAYER, value: 7n, data: dataOf("forward", shop) },
      { from: shop, to: SPOOFER, value: 10n ** 18n },
    ]);
    expect(await paid(chain, from, [shop])).toMatchObject([
      { outputIndex: "native", amountUnits: 5n },
      { amountUnits: 7n, growth: { explainedBy: [expect.stringMatching(/^0x[0-9a-f]{10}$/)] } },
    ]);
  });

  it("are found on ETH even if the recipient's own code forwards them before the scan ends", async () => {
    const chain = chainOf("ETH");
    const { anvil } = chain;
    const safe = await recipient(chain);
    const from = await next(chain);
    await anvil.execute({ to: PAYER, value: 7n, data: dataOf("destroy", safe) });
    await anvil.mine();
    // A wallet contract: any call makes it pay its whole balance to the zero address.
    await anvil.rpc("anvil_setCode", safe, "0x60006000600060004760006000f100");
    await anvil.execute({ to: safe, gas: 100_000n });
    expect(await anvil.rpc("eth_getBalance", safe, "latest")).toBe("0x0");
    expect(await paid(chain, from, [safe])).toMatchObject([{ amountUnits: 7n, block: { height: from } }]);
  });
});

describe("when recipients' balances are read,", () => {
  const moved = ({ proxy }: Chain) => proxy.asked.filter(({ params }) => params[1] === true).length;

  it("no block is read while no balance or nonce has changed", async () => {
    const chain = chainOf("CRO");
    const shops = await recipients(chain);
    await chain.anvil.execute({ to: shops[0], value: 5n });
    const from = await next(chain);
    await chain.anvil.mine(3);
    expect(await paid(chain, from, shops, chain.proxied)).toEqual([]);
    expect(moved(chain)).toBe(0);
  });

  it("a payment swept away within the same blocks is found by the nonce", async () => {
    const chain = chainOf("BNB");
    const { anvil } = chain;
    const shop = await recipient(chain);
    await anvil.rpc("anvil_impersonateAccount", shop);
    const from = await next(chain);
    const gasPrice = 100_000_000_000n;
    const fee = 21_000n * gasPrice;
    const { transactionHash } = await anvil.execute({ to: shop, value: 10n ** 18n });
    const swept = await anvil.execute({ from: shop, to: chain.other, value: 10n ** 18n - fee, gas: 21_000n, gasPrice });
    expect(swept.status).toBe("0x1");
    expect(await anvil.rpc("eth_getBalance", shop, "latest")).toBe("0x0");
    const [transfer, ...more] = await paid(chain, from, [shop]);
    expect(transfer).toMatchObject({ txHash: transactionHash, amountUnits: 10n ** 18n, outputIndex: "native" });
    expect(more).toEqual([]);
  });

  it.each(["BNB", "CRO"] as const)(
    "a payment to a wallet contract that forwards it at once is found on %s",
    async (name) => {
      const chain = chainOf(name);
      const { anvil } = chain;
      const safe = await recipient(chain);
      // Any call makes it pay its whole balance to the zero address.
      await anvil.rpc("anvil_setCode", safe, "0x60006000600060004760006000f100");
      const from = await next(chain);
      const { transactionHash } = await anvil.execute({ to: safe, value: 7n, gas: 100_000n });
      await anvil.mine();
      expect(await anvil.rpc("eth_getBalance", safe, "latest")).toBe("0x0");
      expect(await paid(chain, from, [safe])).toMatchObject([
        { txHash: transactionHash, amountUnits: 7n, outputIndex: "native" },
      ]);
    },
  );

  it("a recipient's own spending, including fees and failures, does not count as growth", async () => {
    const chain = chainOf("CRO");
    const { anvil } = chain;
    const shop = await recipient(chain);
    await anvil.rpc("anvil_impersonateAccount", shop);
    await anvil.execute({ to: shop, value: 10n ** 20n });
    const from = await next(chain);
    await anvil.together([
      { from: shop, to: SPOOFER, value: 5n },
      { from: shop, to: shop, value: 6n },
      { from: shop, to: PAYER, value: 7n, data: dataOf("forward", shop) },
    ]);
    // The third transaction sends 7 out, and the same 7 come back through a contract: growth that nothing else explains.
    expect(await paid(chain, from, [shop])).toMatchObject([
      { outputIndex: "native", amountUnits: 6n },
      { growth: {}, amountUnits: 7n },
    ]);
  });

  const FORGOTTEN = { error: { code: -32_000, message: "missing trie node 5e (path )" } };
  const STATE = new Set(["eth_call", "eth_getBalance"]);

  it.each(["ETH", "BNB"] as const)("a scan reports the blocks for which a node of %s has no state", async (name) => {
    const chain = chainOf(name);
    const shops = await recipients(chain);
    const from = await next(chain);
    await chain.anvil.execute({ to: shops[0], value: 5n });
    chain.proxy.rule = ({ method }) => (STATE.has(method) ? FORGOTTEN : undefined);
    const range = await rangeOf(chain, from, shops);
    const scan = must(await chain.proxied.scan(range));
    expect(scan.transfers).toMatchObject([{ toAddress: shops[0], amountUnits: 5n }]);
    expect(scan.unread).toEqual({ from, to: range.to.height });
    const named = await lookUp({ ...chain, client: chain.proxied }, `block:${from}`, shops);
    expect(named).toMatchObject({ kind: "mined", transfers: [], isUnread: true });
  });

  it.each(["ETH", "BNB"] as const)(
    "a scan through a node of %s that pruned the first blocks finds growth in later ones",
    async (name) => {
      const chain = chainOf(name);
      const shops = await recipients(chain);
      const from = await next(chain);
      for (const units of [3n, 4n, 5n, 6n, 7n, 8n])
        await chain.anvil.execute({ to: PAYER, value: units, data: dataOf("forward", shops[0]) });
      const oldest = from + 2;
      chain.proxy.rule = ({ method, params }) =>
        STATE.has(method) && Number(params[1]) < oldest ? FORGOTTEN : undefined;
      const scan = must(await chain.proxied.scan(await rangeOf(chain, from, shops)));
      expect(scan.transfers.map(({ amountUnits }) => amountUnits)).toEqual([6n, 7n, 8n]);
      expect(scan.unread).toEqual({ from, to: oldest });
    },
  );

  it.each([
    ["has no Multicall3", { result: "0x" }],
    ["answers in another format", { result: `0x${"00".repeat(64)}` }],
  ])("a node that %s is asked for each account separately", async (_, ruling) => {
    const chain = chainOf("BNB");
    const shops = await recipients(chain);
    const from = await next(chain);
    await chain.anvil.execute({ to: shops[0], value: 5n });
    await chain.anvil.execute({ to: PAYER, value: 6n, data: dataOf("forward", shops[0]) });
    chain.proxy.rule = ({ method }) => (method === "eth_call" ? ruling : undefined);
    expect(await paid(chain, from, shops, chain.proxied)).toMatchObject([{ amountUnits: 5n }, { amountUnits: 6n }]);
  });

  it.each(["eth_call", "eth_getTransactionCount"])(
    "a source that throttles %s is reported as an outage",
    async (throttled) => {
      const chain = chainOf("BNB");
      const shop = await recipient(chain);
      const from = await next(chain);
      await chain.anvil.mine();
      chain.proxy.rule = ({ method }) =>
        method === throttled ? { error: { code: 429, message: "slow down" } } : undefined;
      const scan = await chain.proxied.scan(await rangeOf(chain, from, [shop]));
      expect(scan).toMatchObject({ ok: false, error: { kind: "RATE_LIMITED" } });
    },
  );

  it("a scan from the first block on has no earlier balance to compare with, and reads all blocks", async () => {
    const chain = chainOf("CRO");
    const shop = await recipient(chain);
    await chain.anvil.execute({ to: shop, value: 5n });
    chain.proxy.rule = ({ method }) =>
      method === "eth_call" ? { error: { code: -32_603, message: "asked" } } : undefined;
    const range = { ...(await rangeOf(chain, 0, [shop])), assets: chain.network.assets.slice(0, 1) };
    const to = must(await chain.client.block(150)) ?? range.to;
    expect(must(await chain.proxied.scan({ ...range, to })).to).toEqual(to);
    expect(chain.proxy.asked.filter(({ method }) => method === "eth_call")).toEqual([]);
  });

  it("a lookup in a block with growth of a balance returns only the part that the block's transactions do not explain", async () => {
    const chain = chainOf("CRO");
    const shop = await recipient(chain);
    const { blockNumber, blockHash } = await chain.anvil.execute({ to: shop, value: 9n });
    expect(await lookUp(chain, `block:${Number(blockNumber)}`, [shop])).toMatchObject({ kind: "mined", transfers: [] });
    expect(await lookUp(chain, `block:${Number(blockNumber) + 100}`, [shop])).toEqual({ kind: "unknown" });
    expect(await lookUp(chain, blockHash, [shop])).toEqual({ kind: "unknown" });
    expect(await lookUp(chainOf("POL"), "block:1", [shop])).toEqual({ kind: "unknown" });
  });

  it("blocks are read directly if there are too many recipients to read nonces for", async () => {
    const chain = chainOf("BNB");
    const shop = await recipient(chain);
    const many = Array.from({ length: 1_200 }, (_, i) => getAddress(`0x${(2n ** 159n + BigInt(i)).toString(16)}`));
    const from = await next(chain);
    await chain.anvil.execute({ to: shop, value: 5n });
    await chain.anvil.execute({ to: PAYER, value: 6n, data: dataOf("forward", many[1_100]) });
    const found = await paid(chain, from, [...many, shop], chain.proxied);
    expect(found).toMatchObject([
      { toAddress: shop, amountUnits: 5n },
      { toAddress: many[1_100], amountUnits: 6n, growth: {} },
    ]);
    expect(chain.proxy.asked.filter(({ method }) => method === "eth_getTransactionCount")).toEqual([]);
    expect(chain.proxy.requests).toBeLessThan(15);
  });
});
