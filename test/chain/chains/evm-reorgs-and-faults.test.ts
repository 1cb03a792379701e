import { getAddress } from "viem";
import { describe, expect, it } from "vitest";
import type { Hex } from "../../support/anvil.ts";
import { dataOf } from "../../support/contracts.ts";
import {
  type Chain,
  chainOf,
  lookUp,
  must,
  NAMES,
  next,
  paid,
  rangeOf,
  recipient,
  recipients,
  useChains,
} from "./evm-chains-harness.ts";

useChains();

describe("in a reorg", () => {
  it("a payment mined again with a lower log index is the same transfer", async () => {
    const chain = chainOf("ETH");
    const { anvil, usdt, dai, other } = chain;
    const shop = await recipient(chain);
    const from = await next(chain);
    const [, before] = await anvil.together([
      { to: usdt.contract, data: dataOf("transfer", shop, 1n) },
      { from: other, to: dai.contract, data: dataOf("transfer", shop, 2n) },
    ]);
    const [first, second] = await paid(chain, from, [shop]);
    expect(first).toMatchObject({ cryptocurrency: "USDT" });
    await anvil.reorg(1, [await anvil.rawTransaction(before?.transactionHash ?? "0x")]);
    const after = await anvil.receipt(before?.transactionHash ?? "0x");
    expect([before?.logs[0]?.logIndex, after.logs[0]?.logIndex]).toEqual(["0x1", "0x0"]);

    const [again, ...more] = await paid(chain, from, [shop]);
    expect(more).toEqual([]);
    expect(again).toMatchObject({ txHash: second?.txHash, outputIndex: second?.outputIndex, amountUnits: 2n });
    expect(again?.block).toMatchObject({ height: second?.block?.height, hash: after.blockHash });
    expect(await lookUp(chain, first?.txHash ?? "", [shop])).toEqual({ kind: "unknown" });
  });

  it("counts only the mined one of two transactions with the same nonce", async () => {
    const chain = chainOf("POL");
    const { anvil, usdt } = chain;
    const shop = await recipient(chain);
    const from = await next(chain);
    const nonce = Number(await anvil.rpc("eth_getTransactionCount", chain.customer, "latest"));
    const pay = (units: bigint, gasPrice: bigint) =>
      anvil.send({ to: usdt.contract, data: dataOf("transfer", shop, units), nonce, gasPrice, gas: 200_000n });
    const first = await pay(5n, 10_000_000_000n);
    expect(await lookUp(chain, first, [shop])).toMatchObject({ kind: "pending" });
    const second = await pay(6n, 30_000_000_000n);
    await anvil.mine();
    expect(await lookUp(chain, first, [shop])).toEqual({ kind: "unknown" });
    expect(await paid(chain, from, [shop])).toMatchObject([{ txHash: second, amountUnits: 6n }]);
  });

  it.each(NAMES)("a scan up to a block that is no longer on %s fails, and returns no payments", async (name) => {
    const chain = chainOf(name);
    const shop = await recipient(chain);
    const from = await next(chain);
    await chain.anvil.execute({ to: shop, value: 1n });
    const range = await rangeOf(chain, from, [shop]);
    await chain.anvil.reorg(1);
    for (const assets of [chain.network.assets, chain.network.assets.slice(0, 1), chain.network.assets.slice(1)])
      expect(await chain.client.scan({ ...range, assets })).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
  });

  it.each([
    ["does not have", () => null],
    ["has from another block", (receipt: object) => ({ ...receipt, blockHash: `0x${"5e".repeat(32)}` })],
    ["has with other logs", (receipt: object) => ({ ...receipt, logs: [] })],
  ])("a log whose receipt the node %s fails the scan", async (_, forged) => {
    const chain = chainOf("ETH");
    const shop = await recipient(chain);
    const from = await next(chain);
    const receipt = await chain.usdt.pay({ to: shop, units: 5n });
    chain.proxy.rule = ({ method }) =>
      method === "eth_getTransactionReceipt" ? { result: forged(receipt) } : undefined;
    const scan = await chain.proxied.scan(await rangeOf(chain, from, [shop]));
    expect(scan).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
  });
});

describe("a provider that", () => {
  const logCalls = ({ proxy }: Chain) => proxy.asked.filter(({ method }) => method === "eth_getLogs");
  const filterOf = (params: readonly unknown[]) =>
    params[0] as { fromBlock: Hex; toBlock: Hex; topics: readonly (null | string | readonly string[])[] };
  const spanOf = (params: readonly unknown[]) =>
    Number(filterOf(params).toBlock) - Number(filterOf(params).fromBlock) + 1;
  const topicsOf = (params: readonly unknown[]) => filterOf(params).topics[2]?.length ?? 0;
  const strangers = (count: number) =>
    Array.from({ length: count }, (_, i) => getAddress(`0x${(2n ** 158n + BigInt(i)).toString(16)}`));
  const tokens = ({ network: of }: Chain) => of.assets.filter(({ contract }) => contract !== null);

  it("allows few blocks is asked for few at a time, and no payment between two requests is lost", async () => {
    const chain = chainOf("ETH");
    const shop = await recipient(chain);
    const from = await next(chain);
    for (let units = 1n; units <= 12n; units++) await chain.usdt.pay({ to: shop, units });
    chain.proxy.rule = ({ method, params }) =>
      method === "eth_getLogs" && spanOf(params) > 5
        ? { error: { code: -32_005, message: "query returned more than 10000 results" } }
        : undefined;
    const found = await paid(chain, from, [shop], chain.proxied);
    expect(found.map(({ amountUnits }) => amountUnits)).toEqual(Array.from({ length: 12 }, (_, i) => BigInt(i + 1)));
    expect(logCalls(chain).map(({ params }) => spanOf(params))).toEqual([12, 6, 3, 3, 3, 3]);
  });

  it("allows few topics is asked for few recipients at a time", async () => {
    const chain = chainOf("BNB");
    const shop = await recipient(chain);
    const from = await next(chain);
    await chain.dai.pay({ to: shop, units: 5n });
    chain.proxy.rule = ({ method, params }) =>
      method === "eth_getLogs" && topicsOf(params) > 200
        ? { error: { code: -32_602, message: "exceed max addresses or topics per search position" } }
        : undefined;
    const range = await rangeOf(chain, from, [...strangers(599), shop]);
    const scan = must(await chain.proxied.scan({ ...range, assets: tokens(chain) }));
    expect(scan.transfers).toMatchObject([{ toAddress: shop, amountUnits: 5n }]);
    expect(logCalls(chain).map(({ params }) => topicsOf(params))).toEqual([500, 250, 125, 125, 125, 125, 100]);
  });

  it("would have to filter for more than 1,000 recipients is asked for all transfers of the tokens instead", async () => {
    const chain = chainOf("POL");
    const shops = await recipients(chain);
    const [shop, nobody] = shops;
    const from = await next(chain);
    await chain.dai.pay({ to: shop, units: 5n });
    await chain.dai.pay({ to: nobody, units: 6n });
    await chain.anvil.execute({ to: shop, value: 7n });
    const found = await paid(chain, from, [...strangers(1_000), shop], chain.proxied);
    expect(found).toMatchObject([
      { toAddress: shop, amountUnits: 5n },
      { toAddress: shop, amountUnits: 7n, cryptocurrency: "POL" },
    ]);
    expect(logCalls(chain).map(({ params }) => filterOf(params).topics.length)).toEqual([1, 1]);
  });

  it("refuses every range ends the scan with an outage, after a bounded number of requests", async () => {
    const chain = chainOf("ETH");
    const shop = await recipient(chain);
    const from = await next(chain);
    await chain.anvil.mine(64);
    chain.proxy.rule = ({ method }) =>
      method === "eth_getLogs" ? { error: { code: -32_000, message: "block range is too wide" } } : undefined;
    const range = { ...(await rangeOf(chain, from, [shop])), assets: tokens(chain) };
    expect(await chain.proxied.scan(range)).toMatchObject({ ok: false, error: { kind: "REFUSED" } });
    expect(chain.proxy.requests).toBeLessThan(20);
  });

  it("throttles is not asked again, even if its message resembles one about ranges", async () => {
    const chain = chainOf("ETH");
    const shop = await recipient(chain);
    chain.proxy.rule = ({ method }) =>
      method === "eth_getLogs" ? { error: { code: -32_005, message: "daily request count exceeded" } } : undefined;
    const range = { ...(await rangeOf(chain, 1, [shop])), assets: tokens(chain) };
    expect(await chain.proxied.scan(range)).toMatchObject({ ok: false, error: { kind: "RATE_LIMITED" } });
    expect(chain.proxy.requests).toBe(1);
  });

  it("allows only tiny ranges makes a long scan end early, at a block up to which everything was read", async () => {
    const chain = chainOf("CRO");
    const shop = await recipient(chain);
    const from = await next(chain);
    await chain.anvil.mine(230);
    await chain.usdt.pay({ to: shop, units: 5n });
    chain.proxy.rule = ({ method, params }) =>
      method === "eth_getLogs" && spanOf(params) > 2
        ? { error: { code: -32_614, message: "limited to a 2 range" } }
        : undefined;
    const range = { ...(await rangeOf(chain, from, [shop])), assets: tokens(chain) };
    const first = must(await chain.proxied.scan(range));
    expect(first.transfers).toEqual([]);
    expect(first.to.height).toBeGreaterThan(from + 100);
    expect(first.to.height).toBeLessThan(range.to.height);
    expect(first.to).toEqual(must(await chain.client.block(first.to.height)));
    const second = must(await chain.proxied.scan({ ...range, from: first.to.height + 1 }));
    expect(second).toMatchObject({ to: range.to, transfers: [{ amountUnits: 5n }] });
  });

  it("would have to send more than 200 full blocks is asked for only 200", async () => {
    const chain = chainOf("ETH");
    const shop = await recipient(chain);
    const from = await next(chain);
    await chain.anvil.mine(199);
    await chain.anvil.execute({ to: shop, value: 5n });
    await chain.anvil.execute({ to: shop, value: 6n });
    const range = { ...(await rangeOf(chain, from, [shop])), assets: chain.network.assets.slice(0, 1) };
    const scan = must(await chain.client.scan(range));
    expect(scan.to).toEqual(must(await chain.client.block(from + 199)));
    expect(scan.transfers).toMatchObject([{ amountUnits: 5n }]);
  });

  it.each(NAMES)("is behind on %s fails the scan, so that no block is skipped", async (name) => {
    const chain = chainOf(name);
    const shop = await recipient(chain);
    const from = await next(chain);
    await chain.usdt.pay({ to: shop, units: 5n });
    await chain.anvil.execute({ to: shop, value: 5n });
    const range = await rangeOf(chain, from, [shop]);
    const last = range.to.height - 1;
    chain.proxy.rule = ({ method, params: [at, ...rest] }) => {
      if (method !== "eth_getBlockByNumber") return undefined;
      if (at === "latest") return { params: [`0x${last.toString(16)}`, ...rest] };
      return Number(at) > last ? { result: null } : undefined;
    };
    expect(must(await chain.proxied.tip()).height).toBe(last);
    expect(must(await chain.proxied.block(range.to.height))).toBeNull();
    for (const assets of [chain.network.assets, chain.network.assets.slice(0, 1), tokens(chain)])
      expect(await chain.proxied.scan({ ...range, assets })).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
  });

  it.each([
    ["does not know the tag", { error: { code: -32_602, message: "invalid block tag" } }, null],
    ["has no final block yet", { result: null }, null],
  ])("%s has no finalized height", async (_, ruling, height) => {
    const { proxy, proxied } = chainOf("ETH");
    proxy.rule = ({ params }) => (params[0] === "finalized" ? ruling : undefined);
    expect(must(await proxied.finalizedHeight())).toBe(height);
  });

  it("answers a block above its tip with an error counts as not having the block", async () => {
    const { proxy, proxied } = chainOf("ETH");
    proxy.rule = () => ({ error: { code: -32_000, message: "header not found" } });
    expect(must(await proxied.block(10 ** 9))).toBeNull();
    proxy.rule = () => ({ error: { code: -32_000, message: "internal error" } });
    expect(await proxied.block(10 ** 9)).toMatchObject({ ok: false, error: { kind: "REFUSED" } });
  });
});
