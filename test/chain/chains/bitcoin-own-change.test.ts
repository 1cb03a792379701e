// A merchant spends from a watched address, and the change goes back to it. Each source must report that the payment came from that address.
import { expect, test } from "vitest";
import { coreClient } from "../../../src/chains/bitcoin/core-client.ts";
import type { ChainClient } from "../../../src/chains/sources/chain-client.ts";
import { type CoreNode, startCoreNode } from "../../support/core-node.ts";
import { describeOn } from "../../support/describe-on.ts";
import { COINS, good, node, settingsOf, sources, transfersIn, useSources } from "./bitcoin-harness.ts";

interface Unspent {
  readonly txid: string;
  readonly vout: number;
  readonly amount: number;
}

/** Spends the address's whole balance, unconfirmed coins included: half to another address, the rest back to itself. */
async function spendWithChange(node: CoreNode, address: string, other: string): Promise<string> {
  const shop = node.wallet("shop");
  const inputs = await shop<Unspent[]>("listunspent", 0, 9_999, [address]);
  const units = inputs.reduce((sum, { amount }) => sum + Math.round(amount * 1e8), 0);
  const half = Math.floor(units / 2);
  const outputs = [{ [other]: (half / 1e8).toFixed(8) }, { [address]: ((units - half - 100_000) / 1e8).toFixed(8) }];
  const spent = inputs.map(({ txid, vout }) => ({ txid, vout }));
  const raw = await node.rpc<string>("createrawtransaction", spent, outputs);
  const { hex } = await shop<{ readonly hex: string }>("signrawtransactionwithwallet", raw);
  return node.rpc<string>("sendrawtransaction", hex, 0);
}

async function addressesOf(node: CoreNode): Promise<readonly [string, string]> {
  const shop = node.wallet("shop");
  return [await shop<string>("getnewaddress"), await shop<string>("getnewaddress")];
}

for (const coin of COINS) {
  describeOn(coin, () => {
    useSources(coin);

    test.each(["core-rpc", "esplora"] as const)("%s reports an address's payment to itself", async (kind) => {
      const client: ChainClient = sources[kind]();
      const [address, other] = await addressesOf(node);
      const recipients = new Set([address, other]);
      const from = (await node.rpc<number>("getblockcount")) + 1;
      const customer = await node.pay({ [address]: "1" });
      await node.mine();
      const first = await spendWithChange(node, address, other);
      const second = await spendWithChange(node, address, other);
      const own = [
        [first, address, address],
        [first, other, null],
        [second, address, address],
        [second, other, null],
      ].toSorted();
      const told = good(await client.mempool(recipients)).map((of) => [of.txHash, of.toAddress, of.fromAddress]);
      expect(told.toSorted()).toEqual(own);
      expect(transfersIn(good(await client.lookup({ txHash: first, spends: [], recipients })))).toMatchObject([
        { toAddress: other, fromAddress: null },
        { toAddress: address, fromAddress: address },
      ]);
      await node.mine();
      const to = good(await client.tip());
      const scan = good(await client.scan({ from, to, recipients, assets: [] }));
      const mined = scan.transfers.map((of) => [of.txHash, of.toAddress, of.fromAddress]);
      expect(mined.toSorted()).toEqual([...own, [customer, address, null]].toSorted());
      const found = good(await client.lookup({ txHash: second, spends: [], recipients }));
      expect(transfersIn(found)).toMatchObject([{ fromAddress: null }, { fromAddress: address }]);
    });

    test("a node without a transaction index reports an address's payment to itself in its mempool, and a Bitcoin node also in a block", async () => {
      const small = await startCoreNode(coin, { hasTxIndex: false });
      try {
        const client = coreClient(settingsOf(small.network, "core-rpc", small.url));
        const [address, other] = await addressesOf(small);
        const recipients = new Set([address]);
        await small.pay({ [address]: "1" });
        await small.mine();
        const txHash = await spendWithChange(small, address, other);
        expect(good(await client.mempool(recipients))).toMatchObject([{ txHash, fromAddress: address }]);
        await small.mine();
        const to = good(await client.tip());
        const { transfers } = good(await client.scan({ from: to.height, to, recipients, assets: [] }));
        // Without the index, Litecoin Core 0.21 does not show where the inputs of a mined transaction came from.
        expect(transfers).toMatchObject([{ txHash, fromAddress: coin === "bitcoin" ? address : null }]);
        const mined = { kind: "mined", transfers };
        expect(good(await client.lookup({ txHash, spends: [], recipients }))).toMatchObject(mined);
      } finally {
        await small.stop();
      }
    });
  });
}
