// Both ways to TRON over one chain: what they find is the same to the letter, whichever is asked.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ChainClient, ScanRange } from "../../../src/chains/chain-client.ts";
import { type Transfer, transferKey } from "../../../src/chains/transfer.ts";
import { addressOfHex, hexOfAddress } from "../../../src/chains/tron/tron-hex.ts";
import { tronRpcClient } from "../../../src/chains/tron/tron-rpc-client.ts";
import { trongridClient } from "../../../src/chains/tron/trongrid-client.ts";
import type { Result } from "../../../src/lib/result.ts";
import { type Anvil, startAnvil } from "../../support/anvil.ts";
import { dataOf, install } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import { startTron, type TronStandIn } from "../../support/tron-stand-in.ts";

const TRX = network("TRX");
const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
/**
 * Emits a Transfer for every 96 bytes of call data: from, to, amount. By hand, so that one transaction has as many logs as a test wants:
 * for (i = 0; i < calldatasize; i += 96) log3(mem[0..32] = calldata[i + 64], TRANSFER, calldata[i], calldata[i + 32]).
 */
const EMITTER =
  "0x5f5b3681101560425780604001355f52806020013581357fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60205fa36060016001565b00";
const SPOOF = `0x${"5f".repeat(20)}`;
const shop = account(0x22);
const other = account(0x33);
const payer = account(0x44);

function account(byte: number): string {
  const address = addressOfHex(byte.toString(16).repeat(20));
  if (address === undefined) throw new Error("no address");
  return address;
}
const word = (value: string | bigint) =>
  (typeof value === "bigint" ? value.toString(16) : (hexOfAddress(value) ?? value)).padStart(64, "0");
const transfers = (...of: readonly (readonly [string, string, bigint])[]) =>
  `0x${of.map((each) => each.map(word).join("")).join("")}`;
const contract = (address: string) => `0x${hexOfAddress(address)}`;

let chain: Anvil;
let tron: TronStandIn;
let rpc: ChainClient;
let grid: ChainClient;
let sender: string;

const clientsOf = (url: string) => {
  const settings = { fetch, network: TRX, headers: {}, timeoutMs: 10_000, nowMs: Date.now };
  return [tronRpcClient({ ...settings, url: `${url}/jsonrpc` }), trongridClient({ ...settings, url })] as const;
};

beforeAll(async () => {
  chain = await startAnvil({ chainId: 728_126_428 });
  tron = await startTron(chain.rpc);
  [rpc, grid] = clientsOf(tron.url);
  for (const at of [contract(USDT), SPOOF]) await chain.rpc("anvil_setCode", at, EMITTER);
  sender = chain.accounts[0] ?? "";
});
afterAll(async () => {
  await tron?.close();
  await chain?.stop();
});
afterEach(() => {
  Object.assign(tron, {
    fault: null,
    isBlind: false,
    behind: 0,
    hasWallet: true,
    keepsInternal: true,
    isInfoBehind: false,
    maxResults: 10_000,
    maxRange: 5_000,
    pageRows: 200,
  });
});

/** Sends transactions that the next block holds, in this order, and mines it; their hashes, as TRON shows them. */
async function mined(...of: readonly { to: string; data?: string; value?: bigint }[]): Promise<string[]> {
  const hashes: string[] = [];
  for (const { to, data = "0x", value = 0n } of of) {
    const transaction = { from: sender, to, data, value: `0x${value.toString(16)}`, gas: "0x100000" };
    hashes.push(String(await chain.rpc("eth_sendTransaction", transaction)).slice(2));
  }
  await mine(1);
  return hashes;
}
const mine = (blocks: number) => chain.rpc("anvil_mine", `0x${blocks.toString(16)}`, "0x3");

async function good<T>(result: Promise<Result<T, unknown>>): Promise<T> {
  const answer = await result;
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return answer.value;
}
async function scanned(client: ChainClient, of: Partial<ScanRange> = {}): Promise<readonly Transfer[]> {
  const to = of.to ?? (await good(client.tip()));
  const range = { from: Math.max(0, to.height - 20), to, recipients: new Set([shop]), assets: TRX.assets, ...of };
  const scan = await good(client.scan(range));
  expect(scan.to).toEqual(to);
  return scan.transfers.toSorted((a, b) => (transferKey(a) < transferKey(b) ? -1 : 1));
}
const shown = (found: readonly Transfer[]) =>
  found.map(({ cryptocurrency, outputIndex, amountUnits }) => [cryptocurrency, outputIndex, amountUnits]);
/** All but the source's own words. */
const facts = (found: readonly Transfer[]) => found.map((each) => ({ ...each, raw: "" }));
const failure = async (result: Promise<Result<unknown, { kind: string; retryAfterMs: number | null }>>) => {
  const answer = await result;
  return answer.ok ? "answered" : [answer.error.kind, answer.error.retryAfterMs];
};

describe("transfers on TRON", () => {
  it("of USDT and TRX are the same by both ways: identity, block, addresses and amount", async () => {
    const [many, plain] = await mined(
      {
        to: contract(USDT),
        data: transfers([payer, other, 1n], [payer, shop, 5_000_000n], [payer, shop, 7n], [payer, shop, 0n]),
      },
      { to: contract(shop), value: 12_500_000n },
    );
    const [byRpc, byGrid] = [await scanned(rpc), await scanned(grid)];
    const block = await good(rpc.tip());
    const common = { block, toAddress: shop, spends: [], raw: "" };
    const token = { ...common, cryptocurrency: "USDT", txHash: many, fromAddress: payer };
    const coin = { ...common, cryptocurrency: "TRX", txHash: plain, fromAddress: addressOfHex(sender) };
    const expected = [
      { ...token, outputIndex: "1", amountUnits: 5_000_000n },
      { ...token, outputIndex: "2", amountUnits: 7n },
      { ...coin, outputIndex: "native", amountUnits: 12_500_000n },
    ].toSorted((a, b) =>
      transferKey({ ...a, txHash: String(a.txHash) }) < transferKey({ ...b, txHash: String(b.txHash) }) ? -1 : 1,
    );
    expect(facts(byRpc)).toEqual(expected);
    expect(facts(byGrid)).toEqual(expected);
    expect(block.hash).toMatch(/^[0-9a-f]{64}$/);
    expect([...byRpc, ...byGrid].every(({ raw }) => raw.length > 2 && raw.length <= 4096)).toBe(true);
  });

  it("the place of a log is counted within its receipt, not within the block", async () => {
    await mined(
      { to: contract(USDT), data: transfers([payer, other, 1n], [payer, other, 2n]) },
      { to: contract(USDT), data: transfers([payer, shop, 3n]) },
    );
    const to = await good(rpc.tip());
    for (const client of [rpc, grid])
      expect(shown(await scanned(client, { from: to.height }))).toEqual([["USDT", "0", 3n]]);
  });

  it("a token that only calls itself USDT, and a worthless TRC-10 that the JSON-RPC shows like TRX, pay nothing", async () => {
    const [spoofed, worthless] = await mined(
      { to: SPOOF, data: transfers([payer, shop, 1_000_000n]) },
      { to: contract(shop), value: 1_000_000_000n },
    );
    tron.tokenTransfers.add(`0x${worthless}`);
    const to = await good(rpc.tip());
    for (const client of [rpc, grid]) {
      expect(await scanned(client, { from: to.height })).toEqual([]);
      for (const txHash of [String(spoofed), String(worthless)]) {
        const known = await good(client.lookup({ txHash, spends: [], recipients: new Set([shop]) }));
        expect(known).toMatchObject({ kind: "mined", transfers: [] });
      }
    }
  });

  it("where nothing tells TRX from a TRC-10 token, what came is for a person to look at", async () => {
    const [worthless] = await mined({ to: contract(shop), value: 77n });
    tron.hasWallet = false;
    const to = await good(rpc.tip());
    const [found, ...more] = await scanned(rpc, { from: to.height });
    expect(more).toEqual([]);
    expect(found).toMatchObject({ txHash: worthless, outputIndex: "native", amountUnits: 77n, isUnexplained: true });
  });

  it("only the assets and the recipients asked for are told", async () => {
    await mined(
      { to: contract(USDT), data: transfers([payer, shop, 1n], [payer, other, 2n]) },
      { to: contract(shop), value: 3n },
      { to: contract(other), value: 4n },
    );
    const to = await good(rpc.tip());
    const [native, token] = [
      TRX.assets.filter(({ contract }) => contract === null),
      TRX.assets.filter(({ contract }) => contract !== null),
    ];
    for (const client of [rpc, grid]) {
      const only = async (assets: typeof TRX.assets, recipient: string) =>
        shown(await scanned(client, { from: to.height, assets, recipients: new Set([recipient]) }));
      expect(await only(native, shop)).toEqual([["TRX", "native", 3n]]);
      expect(await only(token, shop)).toEqual([["USDT", "0", 1n]]);
      expect(await only(token, other)).toEqual([["USDT", "1", 2n]]);
      expect(await only(TRX.assets, payer)).toEqual([]);
    }
  });

  it("a transaction that failed moves nothing", async () => {
    // Without gas for its log the call runs out of it.
    const hash = String(
      await chain.rpc("eth_sendTransaction", {
        from: sender,
        to: contract(USDT),
        data: transfers([payer, shop, 9n]),
        gas: "0x5b00",
      }),
    );
    await mine(1);
    const to = await good(rpc.tip());
    for (const client of [rpc, grid]) {
      expect(await scanned(client, { from: to.height })).toEqual([]);
      const known = await good(client.lookup({ txHash: hash, spends: [], recipients: new Set([shop]) }));
      expect(known).toEqual({ kind: "mined", block: to, transfers: [] });
    }
  });
});

describe("TRX that a contract sends", () => {
  const PAYER = `0x${"5e".repeat(20)}`;
  const forwarding = (to: string, value: bigint) => ({ to: PAYER, value, data: dataOf("forward", contract(to)) });

  it("is a transfer of its transaction, by its place among what the contract did", async () => {
    await install(chain, "Payer", PAYER);
    const parts = [contract(other), contract(shop)];
    const [forwarded, split] = await mined(forwarding(shop, 21n), {
      ...{ to: PAYER, value: 10n, data: dataOf("split", parts) },
    });
    const to = await good(rpc.tip());
    const found = await scanned(rpc, { from: to.height });
    expect(found.toSorted((a, b) => Number(b.amountUnits - a.amountUnits))).toMatchObject([
      { txHash: forwarded, outputIndex: "internal:0", amountUnits: 21n, cryptocurrency: "TRX", toAddress: shop },
      { txHash: split, outputIndex: "internal:1", amountUnits: 5n, fromAddress: addressOfHex(PAYER.slice(2)) },
    ]);
    for (const client of [rpc, grid]) {
      const known = await good(client.lookup({ txHash: split ?? "", spends: [], recipients: new Set([shop]) }));
      const transfers = facts(found.filter(({ txHash }) => txHash === split));
      expect(known.kind === "mined" ? facts(known.transfers) : []).toEqual(transfers);
    }
  });

  it("is none of a transaction that took it back, and none that a node did not keep", async () => {
    await install(chain, "Payer", PAYER);
    await mined({ to: PAYER, value: 5n, data: dataOf("revertAfter", contract(shop)) });
    expect(await scanned(rpc, { from: (await good(rpc.tip())).height })).toEqual([]);
    await mined(forwarding(shop, 22n));
    const from = (await good(rpc.tip())).height;
    for (const without of ["keepsInternal", "hasWallet"] as const) {
      tron[without] = false;
      expect(await scanned(rpc, { from })).toEqual([]);
      tron[without] = true;
    }
    expect(shown(await scanned(rpc, { from }))).toEqual([["TRX", "internal:0", 22n]]);
  });

  it("is not passed over where the node that tells of it is on another block", async () => {
    await install(chain, "Payer", PAYER);
    await mined(forwarding(shop, 23n));
    const to = await good(rpc.tip());
    tron.isInfoBehind = true;
    const range = { from: to.height, to, recipients: new Set([shop]), assets: TRX.assets };
    expect(await failure(rpc.scan(range))).toEqual(["BEHIND", null]);
  });
});

describe("a look-up on TRON", () => {
  it("gives what a scan gives, whether or not the hash has 0x before it", async () => {
    const hashes = await mined(
      { to: contract(USDT), data: transfers([payer, other, 1n], [payer, shop, 11n]) },
      { to: contract(shop), value: 13n },
    );
    const to = await good(rpc.tip());
    for (const client of [rpc, grid]) {
      const all = await scanned(client, { from: to.height });
      expect(shown(all).length).toBe(2);
      for (const [index, txHash] of hashes.entries()) {
        for (const spelling of [txHash, `0x${txHash.toUpperCase()}`]) {
          const known = await good(client.lookup({ txHash: spelling, spends: [], recipients: new Set([shop]) }));
          expect(known).toEqual({
            kind: "mined",
            block: to,
            transfers: all.filter((each) => each.txHash === hashes[index]),
          });
        }
      }
    }
  });

  it("tells a transaction that waits from one that nobody knows", async () => {
    const waiting = String(
      await chain.rpc("eth_sendTransaction", { from: sender, to: contract(shop), value: "0x1", gas: "0x5208" }),
    );
    const ask = (client: ChainClient, txHash: string) =>
      good(client.lookup({ txHash, spends: [], recipients: new Set([shop]) }));
    for (const client of [rpc, grid]) {
      expect(await ask(client, waiting)).toEqual({ kind: "pending", transfers: [] });
      expect(await ask(client, "ab".repeat(32))).toEqual({ kind: "unknown" });
      expect(await ask(client, "not a hash")).toEqual({ kind: "unknown" });
      expect(await good(client.mempool(new Set([shop])))).toEqual([]);
    }
    await mine(1);
  });
});

describe("the chain itself", () => {
  it("is told alike: blocks, tip, what is final, and nothing above the tip", async () => {
    await mine(25);
    const tip = await good(rpc.tip());
    expect(await good(grid.tip())).toEqual(tip);
    expect(BigInt(`0x${tip.hash.slice(0, 16)}`)).toBe(BigInt(tip.height));
    for (const client of [rpc, grid]) {
      expect(await good(client.finalizedHeight())).toBe(tip.height - 19);
      expect(await good(client.block(tip.height))).toEqual(tip);
      expect(await good(client.block(tip.height - 3))).toEqual(await good(rpc.block(tip.height - 3)));
      expect(await good(client.block(tip.height + 1))).toBeNull();
    }
  });

  it("is verified, and another network's is refused", async () => {
    expect([await rpc.verify(), await grid.verify()]).toEqual([
      { ok: true, value: true },
      { ok: true, value: true },
    ]);
    const settings = { fetch, network: network("TRX_NILE"), headers: {}, timeoutMs: 10_000, nowMs: Date.now };
    const nile = [
      tronRpcClient({ ...settings, url: `${tron.url}/jsonrpc` }),
      trongridClient({ ...settings, url: tron.url }),
    ];
    for (const client of nile) expect(await failure(client.verify())).toEqual(["WRONG_CHAIN", null]);
  });

  it("a reorg under a scan ends it, so that no answer mixes two chains", async () => {
    await mined({ to: contract(USDT), data: transfers([payer, shop, 21n]) });
    const to = await good(rpc.tip());
    await chain.rpc("anvil_reorg", 1, []);
    await mine(1);
    for (const client of [rpc, grid]) {
      const range = { from: to.height - 2, to, recipients: new Set([shop]), assets: TRX.assets };
      expect(await failure(client.scan(range))).toEqual(["BEHIND", null]);
    }
  });
});

describe("sources of TRON that fail", () => {
  it.each([
    ["throttled", ["RATE_LIMITED", null]],
    ["suspended", ["RATE_LIMITED", 30_000]],
  ] as const)("a source that says it is asked too often in its own way (%s) is RATE_LIMITED", async (fault, outage) => {
    const to = await good(rpc.tip());
    tron.fault = fault;
    for (const client of [rpc, grid]) {
      expect(await failure(client.tip())).toEqual(outage);
      const range = { from: to.height, to, recipients: new Set([shop]), assets: TRX.assets };
      expect(await failure(client.scan(range))).toEqual(outage);
    }
  });

  it("a key that is refused is not taken for throttling", async () => {
    tron.fault = "forbidden";
    for (const client of [rpc, grid]) expect(await failure(client.tip())).toEqual(["BAD_STATUS", null]);
  });

  it("a node that lacks the last block is BEHIND and never an empty answer", async () => {
    await mined({ to: contract(USDT), data: transfers([payer, shop, 31n]) });
    const to = await good(rpc.tip());
    tron.behind = 1;
    for (const client of [rpc, grid]) {
      const range = { from: to.height - 5, to, recipients: new Set([shop]), assets: TRX.assets };
      expect(await failure(client.scan(range))).toEqual(["BEHIND", null]);
    }
  });

  it("a false [] is an empty scan: what it hid is found when the overlap is read again", async () => {
    await mined({ to: contract(USDT), data: transfers([payer, shop, 41n]) });
    const to = await good(rpc.tip());
    tron.isBlind = true;
    for (const client of [rpc, grid]) expect(await scanned(client, { from: to.height })).toEqual([]);
    tron.isBlind = false;
    await mine(1);
    for (const client of [rpc, grid])
      expect(shown(await scanned(client, { from: to.height }))).toEqual([["USDT", "0", 41n]]);
  });
});

describe("the limits of the sources", () => {
  const tokens = TRX.assets.filter(({ contract: at }) => at !== null);

  it("past a thousand recipients every transfer of the token is read, and only ours are told", async () => {
    await mined({ to: contract(USDT), data: transfers([payer, shop, 51n], [payer, payer, 1n]) });
    const to = await good(rpc.tip());
    const crowd = Array.from(
      { length: 1_000 },
      (_, index) => addressOfHex((index + 1).toString(16).padStart(40, "0")) ?? "",
    );
    const recipients = new Set([...crowd, shop]);
    tron.asked.length = 0;
    expect(shown(await scanned(rpc, { from: to.height, recipients, assets: tokens }))).toEqual([["USDT", "0", 51n]]);
    expect(tron.asked.filter((method) => method === "eth_getLogs")).toHaveLength(1);
  });

  it.each([{ maxResults: 2 }, { maxRange: 3 }])(
    "a range that is refused under %j is halved until it fits",
    async (limit) => {
      for (let index = 0; index < 6; index++) await mined({ to: contract(USDT), data: transfers([payer, shop, 61n]) });
      const to = await good(rpc.tip());
      Object.assign(tron, limit);
      expect(await scanned(rpc, { from: to.height - 5, assets: tokens })).toHaveLength(6);
    },
  );

  it("a range of more blocks than one pass reads whole is read from its start, and the scan says how far it came", async () => {
    await mine(210);
    const to = await good(rpc.tip());
    const from = to.height - 205;
    const scan = await good(rpc.scan({ from, to, recipients: new Set([shop]), assets: TRX.assets }));
    expect(scan).toEqual({ transfers: [], to: await good(rpc.block(from + 199)) });
  });

  it("two blocks of one time are told apart, as a chain shows whose clock stood still", async () => {
    await chain.rpc("anvil_setBlockTimestampInterval", 0);
    for (const value of ["0x7", "0x8"]) {
      await chain.rpc("eth_sendTransaction", { from: sender, to: contract(shop), value });
      await chain.rpc("evm_mine");
    }
    await chain.rpc("anvil_removeBlockTimestampInterval");
    const to = await good(grid.tip());
    const before = await good(grid.block(to.height - 1));
    expect(before?.timeMs).toBe(to.timeMs);
    const found = await scanned(grid, { from: to.height - 1, to });
    expect(found.map(({ amountUnits, block }) => [amountUnits, block?.height]).toSorted()).toEqual([
      [7n, to.height - 1],
      [8n, to.height],
    ]);
  });

  it("TronGrid's lists are read page by page to their end", async () => {
    tron.pageRows = 3;
    const token = { to: contract(USDT), data: transfers([payer, shop, 1n], [payer, shop, 2n]) };
    const coin = { to: contract(shop), value: 5n };
    await mined(token, coin, token, coin, token);
    await mined(coin, token, coin);
    const to = await good(rpc.tip());
    const from = to.height - 1;
    tron.asked.length = 0;
    const byGrid = await scanned(grid, { from, to });
    expect(byGrid).toHaveLength(12);
    expect(tron.asked.filter((path) => path.endsWith("/transactions/trc20"))).toHaveLength(3);
    expect(tron.asked.filter((path) => path.endsWith("/transactions"))).toHaveLength(2);
    expect(facts(await scanned(rpc, { from, to }))).toEqual(facts(byGrid));
  });
});
