// The clients of Bitcoin-like chains on real nodes: whatever a node does to a payment, each source must report it in the same way.
import { describe, expect, test } from "vitest";
import { coreClient } from "../../../src/chains/bitcoin/core-client.ts";
import { esploraClient } from "../../../src/chains/bitcoin/esplora-client.ts";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { type BlockRef, type Transfer, transferKey } from "../../../src/chains/sources/transfer.ts";
import { describeOn } from "../../support/describe-on.ts";
import {
  COINS,
  esplora,
  good,
  newAddress,
  node,
  outageIn,
  paid,
  settingsOf,
  sorted,
  sources,
  spentBy,
  transfersIn,
  useSources,
} from "./bitcoin-harness.ts";

for (const coin of COINS) {
  describeOn(coin, () => {
    useSources(coin);

    describe.each(["core-rpc", "esplora"] as const)("read through %s", (kind) => {
      const open = (): ChainClient => sources[kind]();

      test("the chain is verified by its genesis block, and another chain is refused", async () => {
        expect(good(await open().verify())).toBe(true);
        const other = coin === "bitcoin" ? "LTC" : "BTC";
        const url = kind === "esplora" ? esplora.url : node.url;
        const make = kind === "esplora" ? esploraClient : coreClient;
        expect(outageIn(await make(settingsOf(other, kind, url)).verify())).toMatchObject({ kind: "WRONG_CHAIN" });
      });

      test("blocks have the node's hashes and times, and none exists above the tip", async () => {
        const client = open();
        const tip = good(await client.tip());
        const header = await node.rpc<{ time: number }>("getblockheader", tip.hash);
        expect(tip).toEqual({
          height: await node.rpc("getblockcount"),
          hash: await node.rpc("getbestblockhash"),
          timeMs: header.time * 1000,
        });
        expect(good(await client.block(tip.height))).toEqual(tip);
        expect(good(await client.block(7))).toMatchObject({ height: 7, hash: await node.rpc("getblockhash", 7) });
        expect(good(await client.block(tip.height + 1))).toBeNull();
        expect(good(await client.finalizedHeight())).toBeNull();
      });

      test("a transaction that pays three recipients counts as three transfers, first unconfirmed and then in its block", async () => {
        const client = open();
        const recipients = new Set([await newAddress(), await newAddress(), await newAddress()]);
        const [one = "", two = "", three = ""] = recipients;
        const txid = await node.pay({ [one]: "0.1", [two]: "0.00012345", [three]: "20.99999999" });
        const spends = await spentBy(node, txid);
        const pending = good(await client.mempool(recipients));
        expect(paid(pending)).toEqual(
          sorted([
            [one, 10_000_000n],
            [two, 12_345n],
            [three, 2_099_999_999n],
          ]),
        );
        expect(pending).toEqual(
          pending.map((each) => ({
            ...each,
            cryptocurrency: coin === "bitcoin" ? "BTC" : "LTC",
            txHash: txid,
            fromAddress: null,
            block: null,
            spends,
          })),
        );
        expect(new Set(pending.map(transferKey)).size).toBe(3);
        expect(pending.every(({ raw, toAddress }) => raw.includes(toAddress) && raw.length <= 4096)).toBe(true);
        expect(good(await client.lookup({ txHash: txid, spends, recipients: new Set([one]) }))).toEqual({
          kind: "pending",
          transfers: pending.filter(({ toAddress }) => toAddress === one),
        });

        await node.mine();
        const to = good(await client.tip());
        const scan = good(await client.scan({ from: to.height - 5, to, recipients, assets: [] }));
        expect(scan.to).toEqual(to);
        expect(scan.transfers.map(transferKey).sort()).toEqual(pending.map(transferKey).sort());
        expect(paid(scan.transfers)).toEqual(paid(pending));
        expect(scan.transfers.every(({ block, spends: none }) => block?.hash === to.hash && none.length === 0)).toBe(
          true,
        );
        expect(good(await client.mempool(recipients))).toEqual([]);
        const found = good(await client.lookup({ txHash: txid, spends, recipients }));
        expect(found).toMatchObject({ kind: "mined", block: to });
        expect(transfersIn(found).map(transferKey).sort()).toEqual(pending.map(transferKey).sort());
      });

      test("a payment replaced at a higher fee is reported as replaced, and the replacement is reported as a payment", async () => {
        const client = open();
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        const first = await node.pay({ [address]: "0.25" });
        const [seen] = good(await client.mempool(recipients));
        const second = await node.replace(first);
        const { spends = [] } = seen ?? {};
        expect(good(await client.lookup({ txHash: first, spends, recipients }))).toEqual({ kind: "replaced" });
        expect(good(await client.mempool(recipients))).toMatchObject([{ txHash: second, amountUnits: 25_000_000n }]);
        await node.mine();
        expect(good(await client.lookup({ txHash: first, spends, recipients }))).toEqual({ kind: "replaced" });
        expect(good(await client.lookup({ txHash: second, spends, recipients }))).toMatchObject({ kind: "mined" });
      });

      test("a double-spent payment is reported as replaced, both before and after the double spend is mined", async () => {
        const client = open();
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        const txHash = await node.pay({ [address]: "0.5" });
        const spends = await spentBy(node, txHash);
        await node.doubleSpend(txHash);
        expect(good(await client.mempool(recipients))).toEqual([]);
        expect(good(await client.lookup({ txHash, spends, recipients }))).toEqual({ kind: "replaced" });
        await node.mine();
        expect(good(await client.lookup({ txHash, spends, recipients }))).toEqual({ kind: "replaced" });
      });

      test("a payment evicted from the mempool is unknown, not replaced, and is pending again once it is resent", async () => {
        const client = open();
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        const txHash = await node.pay({ [address]: "0.0625" });
        const { hex } = await node.wallet()<{ hex: string }>("gettransaction", txHash);
        const spends = await spentBy(node, txHash);
        await node.evict();
        expect(good(await client.mempool(recipients))).toEqual([]);
        expect(good(await client.lookup({ txHash, spends, recipients }))).toEqual({ kind: "unknown" });
        await node.rpc("sendrawtransaction", hex);
        expect(good(await client.mempool(recipients))).toMatchObject([{ txHash, spends }]);
        expect(good(await client.lookup({ txHash, spends, recipients }))).toMatchObject({ kind: "pending" });
        await node.mine();
      });

      test("a payment whose block is undone is pending again, and is mined in another block later", async () => {
        const client = open();
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        const txHash = await node.pay({ [address]: "0.125" });
        await node.mine(2);
        const before = good(await client.tip());
        const range = { from: before.height - 5, recipients, assets: [] };
        const [mined] = good(await client.scan({ ...range, to: before })).transfers;
        expect(mined).toMatchObject({ txHash, amountUnits: 12_500_000n, block: { height: before.height - 1 } });

        await node.undo(2);
        expect(good(await client.tip()).height).toBe(before.height - 2);
        expect(good(await client.lookup({ txHash, spends: [], recipients }))).toMatchObject({ kind: "pending" });
        expect(good(await client.mempool(recipients))).toMatchObject([{ txHash, block: null }]);
        expect(outageIn(await client.scan({ ...range, to: before })).kind).toBe("BEHIND");

        await node.mine(3);
        expect(outageIn(await client.scan({ ...range, to: before })).kind).toBe("BEHIND");
        const after = good(await client.tip());
        const [again] = good(await client.scan({ ...range, to: after })).transfers;
        expect(again).toMatchObject({ txHash, outputIndex: mined?.outputIndex, block: { height: before.height - 1 } });
        expect(again?.block?.hash).not.toBe(mined?.block?.hash);
        expect(good(await client.lookup({ txHash, spends: [], recipients }))).toMatchObject({ block: again?.block });
      });

      test("a payment that was mined, undone and then double-spent is replaced", async () => {
        const client = open();
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        const txHash = await node.pay({ [address]: "0.75" });
        const spends = await spentBy(node, txHash);
        await node.mine();
        await node.undo(1);
        await node.doubleSpend(txHash);
        await node.mine(2);
        expect(good(await client.lookup({ txHash, spends, recipients }))).toEqual({ kind: "replaced" });
      });

      test("a payment that was mined, undone and then evicted from the mempool is unknown, and counts again once it is resent", async () => {
        const client = open();
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        const txHash = await node.pay({ [address]: "0.375" });
        const { hex } = await node.wallet()<{ hex: string }>("gettransaction", txHash);
        const spends = await spentBy(node, txHash);
        await node.mine();
        await client.tip();
        await node.undoAndEvict(1);
        expect(good(await client.lookup({ txHash, spends, recipients }))).toEqual({ kind: "unknown" });
        await node.rpc("sendrawtransaction", hex);
        expect(good(await client.lookup({ txHash, spends, recipients }))).toMatchObject({ kind: "pending" });
        await node.mine();
        expect(good(await client.lookup({ txHash, spends, recipients }))).toMatchObject({ kind: "mined" });
      });

      test("the coinbase of an undone block is unknown", async () => {
        const client = open();
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        const [hash = ""] = await node.rpc<string[]>("generatetoaddress", 1, address);
        const { tx } = await node.rpc<{ tx: string[] }>("getblock", hash);
        const [txHash = ""] = tx;
        expect(good(await client.lookup({ txHash, spends: [], recipients }))).toMatchObject({ kind: "mined" });
        await node.undo(1);
        await node.mine(2);
        expect(good(await client.lookup({ txHash, spends: [], recipients }))).toEqual({ kind: "unknown" });
      });

      test("a transaction that never existed is unknown, whatever inputs it claims to spend", async () => {
        const [txHash, other] = ["ab".repeat(32), "cd".repeat(32)];
        const recipients = new Set([await newAddress()]);
        const client = open();
        expect(good(await client.lookup({ txHash, spends: [], recipients }))).toEqual({ kind: "unknown" });
        expect(good(await client.lookup({ txHash, spends: [`${other}:1`], recipients }))).toEqual({ kind: "unknown" });
      });

      test("every payment to a busy address is found, but only within the requested range of blocks", async () => {
        const client = open();
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        const { height: start } = good(await client.tip());
        for (let count = 1; count <= 28; count++) {
          await node.pay({ [address]: `0.0${10 + count}` });
          if (count % 14 === 0) await node.mine();
        }
        await node.mine(2);
        const to = good(await client.tip());
        const read = async (from: number, upTo: BlockRef | null) =>
          good(await client.scan({ from, to: upTo ?? to, recipients, assets: [] })).transfers;
        const all = await read(start, to);
        expect(new Set(all.map(({ amountUnits }) => amountUnits)).size).toBe(28);
        expect(all).toHaveLength(28);
        expect(await read(start + 2, to)).toHaveLength(14);
        expect(await read(start, good(await client.block(start + 1)))).toHaveLength(14);
        expect(await read(start + 3, to)).toEqual([]);
      });

      test("a payment to a recipient added later is found even if it was already in the mempool", async () => {
        const client = open();
        const [early, late] = [await newAddress(), await newAddress()];
        await node.pay({ [late]: "0.3" });
        expect(good(await client.mempool(new Set([early])))).toEqual([]);
        expect(good(await client.mempool(new Set([early, late])))).toMatchObject([{ toAddress: late }]);
        await node.mine();
      });
    });

    test("the sources report the same payment identically", async () => {
      const recipients = new Set([await newAddress(), await newAddress()]);
      const [one = "", two = ""] = recipients;
      await node.pay({ [one]: "1.5", [two]: "0.01" });
      const clients = [sources["core-rpc"](), sources.esplora()];
      const bare = (transfers: readonly Transfer[]) =>
        transfers.map(({ raw: _, ...rest }) => rest).sort((a, b) => (transferKey(a) < transferKey(b) ? -1 : 1));
      const [core, index] = await Promise.all(clients.map(async (each) => bare(good(await each.mempool(recipients)))));
      expect(core).toEqual(index);
      await node.mine();
      const to = good(await sources["core-rpc"]().tip());
      const [mined, indexed] = await Promise.all(
        clients.map(async (each) =>
          bare(good(await each.scan({ from: to.height, to, recipients, assets: [] })).transfers),
        ),
      );
      expect(mined).toHaveLength(2);
      expect(mined).toEqual(indexed);
    });
  });
}
