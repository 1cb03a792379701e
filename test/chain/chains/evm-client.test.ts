// The EVM client over real nodes: what it finds is what the chain did, whatever anybody says in a log, and the same when it is mined again.
import { getAddress } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ChainClient, ScanRange } from "../../../src/chains/chain-client.ts";
import { evmClient } from "../../../src/chains/evm/evm-client.ts";
import { assetOn, type Network } from "../../../src/chains/networks.ts";
import { type Transfer, transferKey } from "../../../src/chains/transfer.ts";
import type { Outage } from "../../../src/lib/fetch-text.ts";
import type { Result } from "../../../src/lib/result.ts";
import { type Anvil, type Hex, startAnvil } from "../../support/anvil.ts";
import { dataOf, install, installToken, MULTICALL, POLYGON_COIN, type Token } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";

const NAMES = ["ETH", "POL", "BNB", "CRO"] as const;
type Name = (typeof NAMES)[number];

/** Contracts without an address of their own. */
const PAYER: Hex = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const SPOOFER: Hex = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

interface Chain {
  readonly anvil: Anvil;
  readonly network: Network;
  readonly client: ChainClient;
  /** A vendor in front of the same node, and the client that asks it. */
  readonly proxy: RpcProxy;
  readonly proxied: ChainClient;
  readonly customer: Hex;
  readonly other: Hex;
  readonly usdt: Token;
  readonly dai: Token;
}

async function startChain(name: Name): Promise<Chain> {
  const of = network(name);
  const anvil = await startAnvil({ chainId: of.chainId ?? 0 });
  await install(anvil, "Payer", PAYER);
  await install(anvil, "Spoofer", SPOOFER);
  await install(
    anvil,
    of.nativeBy === "logs" ? "PolygonCoin" : "Multicall",
    of.nativeBy === "logs" ? POLYGON_COIN : MULTICALL,
  );
  const usdt = await installToken(anvil, contractOf(of, "USDT"), "TetherLike");
  const dai = await installToken(anvil, contractOf(of, "DAI"));
  // What is behind the tip is asked for as well.
  await anvil.mine();
  const [customer = "0x", other = "0x"] = anvil.accounts;
  const proxy = await startRpcProxy(anvil.url);
  const [client, proxied] = [clientOf(of, anvil.url), clientOf(of, proxy.url)];
  return { anvil, network: of, client, proxy, proxied, customer, other, usdt, dai };
}

function clientOf(of: Network, url: string): ChainClient {
  return evmClient({ fetch, network: of, url, headers: {}, timeoutMs: 8_000, nowMs: () => Date.now() });
}

function contractOf(of: Network, code: string): Hex {
  const contract = assetOn(of, code)?.contract ?? "";
  return `0x${contract.slice(2)}`;
}

const chains = new Map<Name, Chain>();
function chainOf(name: Name): Chain {
  const chain = chains.get(name);
  if (chain === undefined) throw new Error(`${name} did not start`);
  return chain;
}

beforeAll(async () => {
  for (const name of NAMES) chains.set(name, await startChain(name));
});
afterAll(async () => {
  for (const { anvil, proxy } of chains.values()) {
    await proxy.close();
    await anvil.stop();
  }
});
afterEach(() => {
  for (const { proxy } of chains.values()) {
    proxy.rule = () => undefined;
    proxy.asked.length = 0;
    proxy.requests = 0;
  }
});

let made = 0;
/** An address that no other test uses and nobody has a key of. On Polygon it can log that it was paid, as the chain's own client would. */
async function recipient({ anvil, network: of }: Chain): Promise<Hex> {
  made++;
  const address = getAddress(`0x${(0xabcdefn * 2n ** 136n + BigInt(made)).toString(16)}`);
  if (of.nativeBy === "logs") await install(anvil, "PolygonRecipient", address);
  return address;
}

const recipients = async (chain: Chain): Promise<readonly [Hex, Hex, Hex]> => [
  await recipient(chain),
  await recipient(chain),
  await recipient(chain),
];

function must<T>(answer: Result<T, Outage>): T {
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return answer.value;
}

/** The next block, from which a test looks at the chain. */
const next = async ({ anvil }: Chain) => (await anvil.height()) + 1;

async function rangeOf(chain: Chain, from: number, paidTo: Iterable<string>): Promise<ScanRange> {
  const to = must(await chain.client.tip());
  return { from, to, recipients: new Set(paidTo), assets: chain.network.assets };
}

/** Everything that was paid to them since block `from`, by a client that came all the way to the tip. */
async function paid(
  chain: Chain,
  from: number,
  paidTo: Iterable<string>,
  client = chain.client,
): Promise<readonly Transfer[]> {
  const range = await rangeOf(chain, from, paidTo);
  const scan = must(await client.scan(range));
  expect(scan.to).toEqual(range.to);
  return scan.transfers;
}

const lookUp = async ({ client }: Chain, txHash: string, paidTo: Iterable<string>) =>
  must(await client.lookup({ txHash, spends: [], recipients: new Set(paidTo) }));

describe.each(NAMES)("on %s", (name) => {
  it("a token like USDT and one by the book are seen with what their logs say", async () => {
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

  it("of a token with a fee counts what arrived, and nothing of what was sent", async () => {
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

  it("spoofed, empty, reverted and other logs are no payments", async () => {
    const chain = chainOf(name);
    const { anvil, usdt, customer } = chain;
    const shop = await recipient(chain);
    const usdc = contractOf(chain.network, "USDC");
    const from = await next(chain);
    await anvil.execute({ to: SPOOFER, data: dataOf("spoof", customer, shop, 10n ** 6n) });
    await usdt.pay({ to: shop, units: 0n });
    const [reverted] = await anvil.together([{ to: usdt.contract, data: dataOf("transfer", shop, 10n ** 40n) }]);
    // Even from the very contract of a token, only its own event in its own form counts.
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

  it("the coin is seen when a transaction pays it, and not when that was reverted", async () => {
    const chain = chainOf(name);
    const { anvil } = chain;
    const [shop, closed] = await recipients(chain);
    // A contract that takes nothing without a call that it knows.
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

  it("three who are paid by one transaction have a transfer each", async () => {
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

  it("a lookup finds what a scan found, a pending one nothing yet, and an unknown one is unknown", async () => {
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

  it("the source proves its chain, its tip and its blocks", async () => {
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

describe("coins that a contract moves", () => {
  async function payInside(chain: Chain, [one, two]: readonly [Hex, Hex, Hex]) {
    const forwarded = await chain.anvil.execute({ to: PAYER, value: 9n, data: dataOf("forward", one) });
    const parted = await chain.anvil.execute({ to: PAYER, value: 10n, data: dataOf("split", [one, two]) });
    const destroyed = await chain.anvil.execute({ to: PAYER, value: 11n, data: dataOf("destroy", two) });
    await install(chain.anvil, "Payer", PAYER);
    return { forwarded, parted, destroyed };
  }

  it("are in Polygon's logs, each by its place in its transaction", async () => {
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

  it.each(["ETH", "BNB", "CRO"] as const)("grow balances on %s, block by block", async (name) => {
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

    // Another window over the same blocks, and a look at the block alone, find the same.
    const later = await paid(chain, Number(parted.blockNumber), shops);
    expect(later.filter(({ growth }) => growth !== undefined)).toEqual(grown.slice(1));
    expect(await lookUp(chain, grown[2]?.txHash ?? "", [two])).toMatchObject({
      kind: "mined",
      block: { hash: parted.blockHash },
      transfers: grown.slice(2, 3),
    });
  });

  it("are what they were after a reorg put another block in the place of theirs, and gone where that has none", async () => {
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

  it("and plain payments and sweeps of the same block are told apart on ETH", async () => {
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

  it("and are seen on ETH though the recipient's code sends as much on before the scan ends", async () => {
    const chain = chainOf("ETH");
    const { anvil } = chain;
    const safe = await recipient(chain);
    const from = await next(chain);
    await anvil.execute({ to: PAYER, value: 7n, data: dataOf("destroy", safe) });
    await anvil.mine();
    // A wallet contract: whoever calls it makes it pay its all to the zero address.
    await anvil.rpc("anvil_setCode", safe, "0x60006000600060004760006000f100");
    await anvil.execute({ to: safe, gas: 100_000n });
    expect(await anvil.rpc("eth_getBalance", safe, "latest")).toBe("0x0");
    expect(await paid(chain, from, [safe])).toMatchObject([{ amountUnits: 7n, block: { height: from } }]);
  });
});

describe("what recipients hold (BNB, Cronos)", () => {
  const moved = ({ proxy }: Chain) => proxy.asked.filter(({ params }) => params[1] === true).length;

  it("no block is read while neither a balance nor a nonce moved", async () => {
    const chain = chainOf("CRO");
    const shops = await recipients(chain);
    await chain.anvil.execute({ to: shops[0], value: 5n });
    const from = await next(chain);
    await chain.anvil.mine(3);
    expect(await paid(chain, from, shops, chain.proxied)).toEqual([]);
    expect(moved(chain)).toBe(0);
  });

  it("a payment that is swept away in the same blocks is seen by the nonce", async () => {
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

  it("what a recipient spends itself, fees and failures included, explains its balance", async () => {
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
    // The third is 7 out and the same 7 in through a contract: growth that nothing else explains.
    expect(await paid(chain, from, [shop])).toMatchObject([
      { outputIndex: "native", amountUnits: 6n },
      { growth: {}, amountUnits: 7n },
    ]);
  });

  const FORGOTTEN = { error: { code: -32_000, message: "missing trie node 5e (path )" } };
  const STATE = new Set(["eth_call", "eth_getBalance"]);

  it.each(["ETH", "BNB"] as const)("a node of %s that has no state says so, and shows its blocks", async (name) => {
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

  it.each(["ETH", "BNB"] as const)("a node of %s that forgot the first blocks tells of those after", async (name) => {
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
  });

  it.each([
    ["has no Multicall3", { result: "0x" }],
    ["answers another form", { result: `0x${"00".repeat(64)}` }],
  ])("a node that %s is asked for each account", async (_, ruling) => {
    const chain = chainOf("BNB");
    const shops = await recipients(chain);
    const from = await next(chain);
    await chain.anvil.execute({ to: shops[0], value: 5n });
    await chain.anvil.execute({ to: PAYER, value: 6n, data: dataOf("forward", shops[0]) });
    chain.proxy.rule = ({ method }) => (method === "eth_call" ? ruling : undefined);
    expect(await paid(chain, from, shops, chain.proxied)).toMatchObject([{ amountUnits: 5n }, { amountUnits: 6n }]);
  });

  it.each(["eth_call", "eth_getTransactionCount"])("throttling of %s is an outage", async (throttled) => {
    const chain = chainOf("BNB");
    const shop = await recipient(chain);
    const from = await next(chain);
    await chain.anvil.mine();
    chain.proxy.rule = ({ method }) =>
      method === throttled ? { error: { code: 429, message: "slow down" } } : undefined;
    const scan = await chain.proxied.scan(await rangeOf(chain, from, [shop]));
    expect(scan).toMatchObject({ ok: false, error: { kind: "RATE_LIMITED" } });
  });

  it("from the first block on there is nothing to compare with, and all blocks are read", async () => {
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

  it("a name of growth stands for what nothing explains, and not for what transactions pay", async () => {
    const chain = chainOf("CRO");
    const shop = await recipient(chain);
    const { blockNumber, blockHash } = await chain.anvil.execute({ to: shop, value: 9n });
    expect(await lookUp(chain, `block:${Number(blockNumber)}`, [shop])).toMatchObject({ kind: "mined", transfers: [] });
    expect(await lookUp(chain, `block:${Number(blockNumber) + 100}`, [shop])).toEqual({ kind: "unknown" });
    expect(await lookUp(chain, blockHash, [shop])).toEqual({ kind: "unknown" });
    expect(await lookUp(chainOf("POL"), "block:1", [shop])).toEqual({ kind: "unknown" });
  });

  it("beyond what nonces are worth, blocks are read at once", async () => {
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

describe("a chain that changes its mind", () => {
  it("a payment that is mined again behind fewer logs is the same transfer", async () => {
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

  it("of two transactions with one nonce only the one that was mined counts", async () => {
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

  it.each(NAMES)("a scan that ends in a block that is no longer on %s fails whole", async (name) => {
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
    ["has of another block", (receipt: object) => ({ ...receipt, blockHash: `0x${"5e".repeat(32)}` })],
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

  it("allows few blocks is asked for few at a time, and no payment is lost between two requests", async () => {
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

  it("is asked for all transfers of the tokens where there are more than 1,000 recipients", async () => {
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

  it("throttles is left alone at once, whatever its words have in common with those for a range", async () => {
    const chain = chainOf("ETH");
    const shop = await recipient(chain);
    chain.proxy.rule = ({ method }) =>
      method === "eth_getLogs" ? { error: { code: -32_005, message: "daily request count exceeded" } } : undefined;
    const range = { ...(await rangeOf(chain, 1, [shop])), assets: tokens(chain) };
    expect(await chain.proxied.scan(range)).toMatchObject({ ok: false, error: { kind: "RATE_LIMITED" } });
    expect(chain.proxy.requests).toBe(1);
  });

  it("makes a scan too dear ends it early, at a block up to which all was read", async () => {
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

  it("would have to send more than 200 whole blocks is asked for 200", async () => {
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

  it.each(NAMES)("is behind on %s passes nothing over", async (name) => {
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
  ])("%s calls no block final", async (_, ruling, height) => {
    const { proxy, proxied } = chainOf("ETH");
    proxy.rule = ({ params }) => (params[0] === "finalized" ? ruling : undefined);
    expect(must(await proxied.finalizedHeight())).toBe(height);
  });

  it("refuses to speak of a block above its tip has no such block", async () => {
    const { proxy, proxied } = chainOf("ETH");
    proxy.rule = () => ({ error: { code: -32_000, message: "header not found" } });
    expect(must(await proxied.block(10 ** 9))).toBeNull();
    proxy.rule = () => ({ error: { code: -32_000, message: "internal error" } });
    expect(await proxied.block(10 ** 9)).toMatchObject({ ok: false, error: { kind: "REFUSED" } });
  });
});
