// Both interfaces to TRON must find exactly the same on one chain.
import { describe, expect, it } from "vitest";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { transferKey } from "../../../src/chains/sources/transfer.ts";
import { addressOfHex } from "../../../src/chains/tron/tron-hex.ts";
import { tronRpcClient } from "../../../src/chains/tron/tron-rpc-client.ts";
import { trongridClient } from "../../../src/chains/tron/trongrid-client.ts";
import { dataOf, install } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import {
  account,
  chain,
  contract,
  facts,
  failure,
  good,
  grid,
  mine,
  mined,
  payer,
  rpc,
  SPOOF,
  scanned,
  sender,
  shop,
  shown,
  TRX,
  transfers,
  tron,
  USDT,
  useTron,
} from "./tron-harness.ts";

useTron();

const other = account(0x33);

describe("transfers on TRON", () => {
  it("of USDT and TRX are the same through both interfaces: identity, block, addresses and amount", async () => {
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

  it("have the index of their log within its receipt, not within the block", async () => {
    await mined(
      { to: contract(USDT), data: transfers([payer, other, 1n], [payer, other, 2n]) },
      { to: contract(USDT), data: transfers([payer, shop, 3n]) },
    );
    const to = await good(rpc.tip());
    for (const client of [rpc, grid])
      expect(shown(await scanned(client, { from: to.height }))).toEqual([["USDT", "0", 3n]]);
  });

  it("of a fake USDT, and of a worthless TRC-10 that the JSON-RPC shows like TRX, are not payments", async () => {
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

  it("that may be TRX or a TRC-10 token are marked as unexplained, for review", async () => {
    const [worthless] = await mined({ to: contract(shop), value: 77n });
    tron.hasWallet = false;
    const to = await good(rpc.tip());
    const [found, ...more] = await scanned(rpc, { from: to.height });
    expect(more).toEqual([]);
    expect(found).toMatchObject({ txHash: worthless, outputIndex: "native", amountUnits: 77n, isUnexplained: true });
  });

  it("are found only for the assets and recipients asked for", async () => {
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

  it("of a failed transaction are not found", async () => {
    // The call runs out of gas before its log.
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

describe("TRX sent by a contract", () => {
  const PAYER = `0x${"5e".repeat(20)}`;
  const forwarding = (to: string, value: bigint) => ({ to: PAYER, value, data: dataOf("forward", contract(to)) });

  it("is a transfer in its transaction, identified by its index among the internal transactions", async () => {
    await install(chain, "Payer", PAYER);
    const parts = [contract(other), contract(shop)];
    const [forwarded, split] = await mined(forwarding(shop, 21n), {
      to: PAYER,
      value: 10n,
      data: dataOf("split", parts),
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

  it("is not found if the transaction was reverted or the node did not keep it", async () => {
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

  it("makes the scan fail if the node that reports it is at a different block", async () => {
    await install(chain, "Payer", PAYER);
    await mined(forwarding(shop, 23n));
    const to = await good(rpc.tip());
    tron.isInfoBehind = true;
    const range = { from: to.height, to, recipients: new Set([shop]), assets: TRX.assets };
    expect(await failure(rpc.scan(range))).toEqual(["BEHIND", null]);
  });
});

describe("a lookup on TRON", () => {
  it("returns what a scan returns, whether or not the hash has 0x before it", async () => {
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

  it("distinguishes a pending transaction from an unknown one", async () => {
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

describe("the TRON chain", () => {
  it("has the same blocks, tip and finalized height through both interfaces, and no block above the tip", async () => {
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

  it("is verified, and another network is refused", async () => {
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

  it("makes a scan fail during a reorg, so that no result mixes two chains", async () => {
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
