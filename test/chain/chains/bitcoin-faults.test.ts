import { describe, expect, test } from "vitest";
import { coreClient } from "../../../src/chains/bitcoin/core-client.ts";
import { esploraClient } from "../../../src/chains/bitcoin/esplora-client.ts";
import type { Outage } from "../../../src/lib/fetch-text.ts";
import { startCoreNode } from "../../support/core-node.ts";
import { describeOn } from "../../support/describe-on.ts";
import { type EsploraFault, startEsplora } from "../../support/esplora-stand-in.ts";
import {
  COINS,
  esplora,
  good,
  newAddress,
  node,
  outageIn,
  settingsOf,
  sources,
  spentBy,
  useSources,
} from "./bitcoin-harness.ts";

for (const coin of COINS) {
  describeOn(coin, () => {
    useSources(coin);

    describe("the limits and faults of an Esplora", () => {
      const FAULTS: readonly (readonly [EsploraFault, Partial<Outage>])[] = [
        ["429", { kind: "RATE_LIMITED", retryAfterMs: 3_000 }],
        ["502", { kind: "BAD_STATUS" }],
        ["html", { kind: "NOT_JSON" }],
        ["truncated", { kind: "TRUNCATED" }],
        ["hang", { kind: "TIMEOUT" }],
      ];

      test.each(FAULTS)("%s for one of twelve recipients fails the scan with that outage", async (fault, outage) => {
        const recipients = new Set(await Promise.all(Array.from({ length: 12 }, newAddress)));
        const patient = sources.esplora();
        // A short timeout, only for the fault where no answer arrives.
        const timeoutMs = fault === "hang" ? { timeoutMs: 400 } : {};
        const client = esploraClient({ ...settingsOf(node.network, "esplora", esplora.url), ...timeoutMs });
        const to = good(await patient.tip());
        const [, , third = ""] = recipients;
        const { tx } = await node.rpc<{ tx: string[] }>("getblock", to.hash);
        const [txHash = ""] = tx;
        Object.assign(esplora, { fault, failsAt: (path: string) => path.includes(third) });
        try {
          const scan = await client.scan({ from: to.height, to, recipients, assets: [] });
          expect(outageIn(scan)).toMatchObject(outage);
          Object.assign(esplora, { failsAt: () => true });
          expect(outageIn(await client.tip()).kind).not.toBe("BEHIND");
          expect(outageIn(await client.lookup({ txHash, spends: [], recipients })).kind).toBe(outage.kind);
        } finally {
          Object.assign(esplora, { fault: null, failsAt: () => true });
        }
        expect(good(await patient.scan({ from: to.height, to, recipients, assets: [] })).transfers).toEqual([]);
      });

      test("a lagging tip is reported as the tip, and a scan beyond it is refused", async () => {
        const client = sources.esplora();
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        await node.pay({ [address]: "0.2" });
        await node.mine();
        const to = good(await client.tip());
        esplora.behind = 1;
        try {
          expect(good(await client.tip()).height).toBe(to.height - 1);
          expect(good(await client.block(to.height))).toBeNull();
          expect(outageIn(await client.scan({ from: to.height, to, recipients, assets: [] })).kind).toBe("BEHIND");
          expect(good(await client.mempool(recipients))).toHaveLength(1);
        } finally {
          esplora.behind = 0;
        }
      });

      test("a scan sends one request per recipient and one at its end, with at most four open at a time; a mempool read directly after the scan sends none", async () => {
        const recipients = new Set(await Promise.all(Array.from({ length: 15 }, newAddress)));
        const [address = ""] = recipients;
        await node.pay({ [address]: "0.4" });
        const client = sources.esplora();
        const to = good(await client.tip());
        esplora.asked.length = 0;
        good(await client.scan({ from: to.height, to, recipients, assets: [] }));
        expect(esplora.asked).toHaveLength(16);
        expect(good(await client.mempool(recipients))).toHaveLength(1);
        expect(esplora.asked).toHaveLength(16);
        // After another block, reading the mempool needs requests again.
        await node.mine();
        expect(good(await client.mempool(recipients))).toEqual([]);
        expect(esplora.asked.length).toBeGreaterThan(16);
        expect(esplora.mostAtOnce).toBeLessThanOrEqual(4);
      });
    });

    describe("the limits and faults of a node", () => {
      test("a wrong password is reported without revealing it", async () => {
        const url = node.url.replace(/:\w+@/, ":canary-of-a-password@");
        const outage = outageIn(await coreClient(settingsOf(node.network, "core-rpc", url)).verify());
        expect(outage).toMatchObject({ kind: "BAD_STATUS", message: "status 401" });
      });

      test("a node that cannot be reached is UNREACHABLE", async () => {
        const gone = await startEsplora(node);
        await gone.close();
        const client = esploraClient(settingsOf(node.network, "esplora", gone.url));
        expect(outageIn(await client.tip()).kind).toBe("UNREACHABLE");
        const core = coreClient(settingsOf(node.network, "core-rpc", gone.url));
        expect(outageIn(await core.mempool(new Set(["x"]))).kind).toBe("UNREACHABLE");
      });

      test("without a transaction index, a mined payment is found while one of its outputs is unspent", async () => {
        const bare = await startCoreNode(coin, { hasTxIndex: false });
        try {
          const client = coreClient(settingsOf(bare.network, "core-rpc", bare.url));
          const address = await bare.wallet("shop")<string>("getnewaddress");
          const recipients = new Set([address]);
          const txHash = await bare.pay({ [address]: "0.6" });
          expect(good(await client.lookup({ txHash, spends: [], recipients }))).toMatchObject({ kind: "pending" });
          await bare.mine(3);
          const { height } = good(await client.tip());
          expect(good(await client.lookup({ txHash, spends: [], recipients }))).toMatchObject({
            kind: "mined",
            block: { height: height - 2 },
            transfers: [{ toAddress: address, amountUnits: 60_000_000n, outputIndex: expect.any(String) }],
          });
          const lost = await bare.pay({ [address]: "0.7" });
          const spends = await spentBy(bare, lost);
          await bare.doubleSpend(lost);
          await bare.mine();
          // The transaction's inputs are spent in a block, and nothing proves that the transaction itself did not spend them.
          expect(good(await client.lookup({ txHash: lost, spends, recipients }))).toEqual({ kind: "unknown" });
        } finally {
          await bare.stop();
        }
      });
    });

    // Bitcoin has no MWEB.
    if (coin === "litecoin")
      test("a payment from MWEB is not found before it is mined; then it is found under its txid in the block", async () => {
        const height = await node.rpc<number>("getblockcount");
        // Mines the block in which MWEB is activated, and moves the first coins into MWEB.
        await node.mine(Math.max(0, 431 - height));
        const inside = node.wallet("mweb");
        await node.pay({ [await inside<string>("getnewaddress", "", "mweb")]: "3" });
        await node.mine(2);
        const recipients = new Set([await newAddress()]);
        const [address = ""] = recipients;
        const hidden = await inside<string>("sendtoaddress", address, "1.25");
        for (const open of Object.values(sources)) {
          expect(good(await open().mempool(recipients))).toEqual([]);
          expect(good(await open().lookup({ txHash: hidden, spends: [], recipients }))).toEqual({
            kind: "pending",
            transfers: [],
          });
        }
        await node.mine();
        for (const open of Object.values(sources)) {
          const client = open();
          const to = good(await client.tip());
          const { transfers } = good(await client.scan({ from: to.height - 5, to, recipients, assets: [] }));
          expect(transfers).toMatchObject([{ toAddress: address, amountUnits: 125_000_000n, block: to }]);
          expect(transfers[0]?.txHash).not.toBe(hidden);
          expect(good(await client.lookup({ txHash: hidden, spends: [], recipients }))).toEqual({ kind: "unknown" });
        }
      });
  });
}
