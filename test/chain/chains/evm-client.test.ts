// The EVM client over real nodes: it must find what happened on the chain, whatever forged logs claim, and find the same after blocks are mined
// again.
import { describe, expect, it } from "vitest";
import { assetOn } from "../../../src/chains/registry/networks.ts";
import type { Hex } from "../../support/anvil.ts";
import { dataOf, install } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import {
  chainOf,
  clientOf,
  contractOf,
  lookUp,
  must,
  NAMES,
  next,
  PAYER,
  paid,
  recipient,
  recipients,
  SPOOFER,
  useChains,
} from "./evm-chains-harness.ts";

useChains();

describe.each(NAMES)("on %s", (name) => {
  it("transfers of USDT (whose transfer() returns no value) and of a standard token are found, with the details from their logs", async () => {
    const chain = chainOf(name);
    const shop = await recipient(chain);
    const from = await next(chain);
    const units = assetOn(chain.network, "USDT")?.decimals === 18 ? 49_900_000_000_000_000_001n : 49_900_001n;
    const first = await chain.usdt.pay({ to: shop, units });
    const second = await chain.dai.pay({ from: chain.other, to: shop, units: 10n ** 24n + 1n });

    const found = await paid(chain, from, [shop]);
    expect(found).toMatchObject([
      {
        cryptocurrency: "USDT",
        txHash: first.transactionHash,
        outputIndex: "0",
        fromAddress: chain.customer,
        toAddress: shop,
        amountUnits: units,
        block: { height: Number(first.blockNumber), hash: first.blockHash },
        spends: [],
      },
      { cryptocurrency: "DAI", txHash: second.transactionHash, fromAddress: chain.other, amountUnits: 10n ** 24n + 1n },
    ]);
    const block = await chain.anvil.rpc<{ timestamp: Hex }>("eth_getBlockByHash", first.blockHash, false);
    expect(found[0]?.block?.timeMs).toBe(Number(block.timestamp) * 1000);
  });

  it("a payment in a token with a transfer fee counts with the amount received", async () => {
    const chain = chainOf(name);
    const [shop, collector] = await recipients(chain);
    const setFee = (basisPoints: bigint) =>
      chain.anvil.execute({ to: chain.usdt.contract, data: dataOf("setFee", basisPoints, collector) });
    await setFee(250n);
    const from = await next(chain);
    await chain.usdt.pay({ to: shop, units: 1_000_000n });
    await setFee(0n);
    expect(await paid(chain, from, [shop])).toMatchObject([{ amountUnits: 975_000n, outputIndex: "1" }]);
  });

  it("spoofed, empty, reverted and unrelated logs are not payments", async () => {
    const chain = chainOf(name);
    const { anvil, usdt, customer } = chain;
    const shop = await recipient(chain);
    const usdc = contractOf(chain.network, "USDC");
    const from = await next(chain);
    await anvil.execute({ to: SPOOFER, data: dataOf("spoof", customer, shop, 10n ** 6n) });
    await usdt.pay({ to: shop, units: 0n });
    const [reverted] = await anvil.together([{ to: usdt.contract, data: dataOf("transfer", shop, 10n ** 40n) }]);
    // Even from a token's own contract, only the standard event counts.
    await install(anvil, "Spoofer", usdc);
    const long = await anvil.execute({ to: usdc, data: dataOf("spoofLong", customer, shop, 10n ** 6n) });
    await install(anvil, "Collectible", usdc);
    const minted = await anvil.execute({ to: usdc, data: dataOf("mint", shop, 7n) });

    expect(await paid(chain, from, [shop])).toEqual([]);
    expect([reverted?.status, long.logs.length, minted.logs[0]?.topics.length]).toEqual(["0x0", 1, 4]);
    const block = { height: Number(reverted?.blockNumber), hash: reverted?.blockHash };
    expect(await lookUp(chain, reverted?.transactionHash ?? "", [shop])).toMatchObject({
      kind: "mined",
      block,
      transfers: [],
    });
  });

  it("the native coin is found when a transaction pays it, and not when the transaction is reverted", async () => {
    const chain = chainOf(name);
    const { anvil } = chain;
    const [shop, closed] = await recipients(chain);
    // A contract that refuses plain payments.
    await install(anvil, "Spoofer", closed);
    const from = await next(chain);
    const { transactionHash } = await anvil.execute({ to: shop, value: 10n ** 18n + 3n });
    const [refused] = await anvil.together([{ to: closed, value: 10n ** 18n }]);
    await anvil.together([{ to: PAYER, value: 10n ** 18n, data: dataOf("revertAfter", shop) }]);

    expect(refused?.status).toBe("0x0");
    expect(await paid(chain, from, [shop, closed])).toMatchObject([
      {
        cryptocurrency: chain.network.nativeCode,
        txHash: transactionHash,
        outputIndex: "native",
        fromAddress: chain.customer,
        toAddress: shop,
        amountUnits: 10n ** 18n + 3n,
      },
    ]);
  });

  it("three recipients paid by one transaction have a transfer each", async () => {
    const chain = chainOf(name);
    const { anvil, dai } = chain;
    const shops = await recipients(chain);
    const from = await next(chain);
    await anvil.execute({ to: dai.contract, data: dataOf("approve", PAYER, 10n ** 20n) });
    const { transactionHash } = await anvil.execute({ to: PAYER, data: dataOf("payTokens", dai.contract, shops, 5n) });
    const found = await paid(chain, from, shops);
    expect(
      found.map(({ txHash, toAddress, outputIndex, amountUnits }) => [txHash, toAddress, outputIndex, amountUnits]),
    ).toEqual(shops.map((shop, place) => [transactionHash, shop, String(place), 5n]));
  });

  it("a lookup returns what a scan found; a pending transaction has no transfers yet, and an unknown one is unknown", async () => {
    const chain = chainOf(name);
    const shop = await recipient(chain);
    const from = await next(chain);
    const hash = await chain.anvil.send({ to: shop, value: 77n });
    expect(await lookUp(chain, hash, [shop])).toEqual({ kind: "pending", transfers: [] });
    expect(await chain.client.mempool(new Set([shop]))).toEqual({ ok: true, value: [] });
    await chain.anvil.mine();
    const token = await chain.usdt.pay({ to: shop, units: 78n });
    const found = await paid(chain, from, [shop]);
    for (const { txHash } of [{ txHash: hash }, { txHash: token.transactionHash }]) {
      const transfers = found.filter((each) => each.txHash === txHash);
      expect(transfers).toHaveLength(1);
      expect(await lookUp(chain, txHash.toUpperCase().replace("X", "x"), [shop])).toEqual({
        kind: "mined",
        block: transfers[0]?.block,
        transfers,
      });
    }
    for (const nobodys of [`0x${"5e".repeat(32)}`, "5e".repeat(32), "0x", "what"])
      expect(await lookUp(chain, nobodys, [shop])).toEqual({ kind: "unknown" });
  });

  it("a source verifies its chain and reports its tip and blocks", async () => {
    const chain = chainOf(name);
    expect(await chain.client.verify()).toEqual({ ok: true, value: true });
    const elsewhere = clientOf(network(name === "ETH" ? "POL" : "ETH"), chain.anvil.url);
    expect(await elsewhere.verify()).toMatchObject({ ok: false, error: { kind: "WRONG_CHAIN" } });
    const tip = must(await chain.client.tip());
    expect(tip.height).toBe(await chain.anvil.height());
    expect(must(await chain.client.block(tip.height))).toEqual(tip);
    expect(must(await chain.client.block(tip.height + 1))).toBeNull();
    expect(must(await chain.client.finalizedHeight())).toBeLessThanOrEqual(tip.height);
  });
});
