// A payment from the chain to the invoice's row, through the Durable Object as deployed: the configured source, its client, the pass, the matching
// and the settlement. Only the node is a stand-in; real ones are in test/chain.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NetworkWatcher } from "../../../src/detection/watchers/network-watcher.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { seedShop, sendWith } from "../../support/access.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";
import { networkOf } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";

const URL_WITH_KEY = "https://node.example/v2/a-vendors-key";
const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: URL_WITH_KEY }] });
const TETHER =
  networkOf("ETH")
    .assets.find(({ code }) => code === "USDT")
    ?.contract?.toLowerCase() ?? "";
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

const hex = (value: number | bigint) => `0x${value.toString(16)}`;
const word = (value: string) => `0x${value.replace(/^0x/, "").toLowerCase().padStart(64, "0")}`;
const hashOf = (height: number) => word(hex(height + 1_000));

/** A node with one block every 12 seconds up to now, and the logs that a test puts into them. */
class Node {
  readonly startMs = Date.now() - 200 * 12_000;
  readonly paid: { readonly height: number; readonly to: string; readonly units: bigint }[] = [];
  status = 200;

  get height(): number {
    return Math.floor((Date.now() - this.startMs) / 12_000);
  }

  fetch = async (url: string, init: RequestInit): Promise<Response> => {
    expect(url).toBe(URL_WITH_KEY);
    if (this.status !== 200) return new Response("<html>", { status: this.status });
    const body = JSON.parse(String(init.body));
    const answer = ({ id, method, params }: { id: number; method: string; params: readonly [string] }) => ({
      jsonrpc: "2.0",
      id,
      result: this.#answer(method, params),
    });
    return Response.json(Array.isArray(body) ? body.map(answer) : answer(body));
  };

  #answer(method: string, [first]: readonly [string]): unknown {
    switch (method) {
      case "eth_chainId":
        return "0x1";
      case "eth_getBlockByNumber": {
        const height = first === "latest" ? this.height : Number(first);
        return first === "finalized" || height > this.height ? null : this.#block(height);
      }
      case "eth_getLogs":
        return this.paid.map((_, n) => ({ ...this.#log(n), blockNumber: hex(this.paid[n]?.height ?? 0) }));
      case "eth_getTransactionReceipt":
        return this.#receipt(Number(BigInt(first) - 1n));
      default:
        throw new Error(`nobody expected ${method}`);
    }
  }

  #block(height: number) {
    const timestamp = hex(Math.floor((this.startMs + height * 12_000) / 1_000));
    return { number: hex(height), hash: hashOf(height), parentHash: hashOf(height - 1), timestamp, transactions: [] };
  }

  #log(n: number) {
    const { height = 0, to = "", units = 0n } = this.paid[n] ?? {};
    const topics = [TRANSFER, word("0x1234"), word(to)];
    const at = {
      blockHash: hashOf(height),
      blockNumber: hex(height),
      transactionHash: word(hex(n + 1)),
      logIndex: "0x5",
    };
    return { address: TETHER, topics, data: word(hex(units)), ...at };
  }

  #receipt(n: number) {
    const { blockHash, blockNumber, transactionHash } = this.#log(n);
    return { transactionHash, blockHash, blockNumber, status: "0x1", logs: [this.#log(n)], gasUsed: "0x1" };
  }
}

let node: Node;

beforeEach(async () => {
  await testDb.delete(networkCursors);
  node = new Node();
  vi.stubGlobal("fetch", node.fetch);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const watch = () =>
  runInDurableObject(env.NETWORK_WATCHER.getByName("ETH"), (_, state) =>
    new NetworkWatcher(state, { ...env, CHAIN_SOURCES }).runNow(),
  );

describe("a payment in a block of a configured chain", () => {
  it("makes its invoice PAID once, however often the chain is read", async () => {
    const shop = await seedShop();
    const ask = async (method: string, rest: string, body?: unknown) => {
      const path = `/api/v1/merchants/merchant/${shop.merchantId}${rest}`;
      const answer = await sendWith({ CHAIN_SOURCES }, path, { method, key: shop.secretKey, body });
      return JSON.parse(answer.text);
    };
    const wallet = directWallet();
    await ask("POST", "/wallets", wallet);
    const invoice = await ask("POST", "/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT] });
    const [method] = invoice.paymentMethods;
    expect([invoice.status, method.status]).toEqual(["AWAITING_PAYMENT", "ACTIVE"]);
    expect(await watch()).toEqual({ kind: "read", isBehind: false });
    expect((await ask("GET", `/invoices/${invoice.id}`)).status).toBe("AWAITING_PAYMENT");
    const units = BigInt(Math.round(Number(method.amount) * 1e6));
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 24_000);
    node.paid.push({ height: node.height, to: wallet.address, units });
    for (let n = 0; n < 3; n++) expect(await watch()).toEqual({ kind: "read", isBehind: false });
    const paid = await ask("GET", `/invoices/${invoice.id}`);
    expect(paid).toMatchObject({ status: "PAID", amountReceived: "10.000000", amountConfirmed: "10.000000" });
    expect(paid.payments).toHaveLength(1);
    expect(paid.invoiceTimeline.map((item: { paymentStatus: string }) => item.paymentStatus)).toEqual([
      "AWAITING_PAYMENT",
      "PENDING_CONFIRMATION",
      "PAID",
    ]);
  });

  it("is not found while the source fails, and the log names the source without its URL", async () => {
    const log = [vi.spyOn(console, "warn"), vi.spyOn(console, "error")].map((each) => each.mockReturnValue());
    const { merchantId, secretKey } = await seedShop();
    const base = `/api/v1/merchants/merchant/${merchantId}`;
    const post = (rest: string, body: unknown) =>
      sendWith({ CHAIN_SOURCES }, `${base}${rest}`, { method: "POST", key: secretKey, body });
    await post("/wallets", directWallet());
    await post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT] });
    node.status = 502;
    expect(await watch()).toEqual({ kind: "failed", outage: "BAD_STATUS" });
    const lines = log
      .flatMap(({ mock }) => mock.calls)
      .map(String)
      .join("\n");
    expect(lines).toContain("ETH source 1 (evm-rpc) failed: BAD_STATUS");
    expect(lines).not.toMatch(/node\.example|vendors-key/);
  });
});
