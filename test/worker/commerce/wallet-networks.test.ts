// Other networks on which the address of a wallet may be registered: tested through the route, the watchers' objects and their sources' clients. Only
// the nodes are stand-ins.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type NetworkName, networkNamed } from "../../../src/chains/registry/networks.ts";
import { walletDependencies } from "../../../src/commerce/wallets/dependencies.ts";
import { watchDependencies } from "../../../src/detection/watchers/dependencies.ts";
import { NetworkWatcher } from "../../../src/detection/watchers/network-watcher.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { expectRefusal, sendWith } from "../../support/access.ts";
import { seedCursor } from "../../support/payments.ts";
import { standIns } from "../../support/stand-ins.ts";
import { randomHex, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { directBody, registered } from "./wallets-harness.ts";

const CODE = "0x6080604052";
/** Ethereum has two sources; Cronos and BNB have none. */
const SOURCES: readonly (readonly [NetworkName, number])[] = [
  ["ETH", 2],
  ["POL", 1],
  ["BASE", 1],
  ["ARBITRUM", 1],
  ["OPTIMISM", 1],
  ["BASE_SEPOLIA", 1],
];
const CHAIN_SOURCES = JSON.stringify(
  Object.fromEntries(
    SOURCES.map(([name, count]) => [
      name,
      Array.from({ length: count }, (_, n) => ({ kind: "evm-rpc", url: `http://${name}-${n}.example` })),
    ]),
  ),
);

/**
 * What each source, for example `ETH-0`, answers about the address's code. Undefined means no answer; a source that is not in the map reports no
 * code.
 */
let code: Map<string, unknown>;
let asked: string[];

beforeEach(async () => {
  await testDb.delete(networkCursors);
  [code, asked] = [new Map(), []];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const source = new URL(url).hostname.split(".")[0]?.toUpperCase() ?? "";
    const { id, method, params } = JSON.parse(String(init.body));
    const network = networkNamed(source.split("-")[0] ?? "");
    if (method === "eth_chainId")
      return Response.json({ jsonrpc: "2.0", id, result: `0x${network?.chainId?.toString(16)}` });
    asked.push(`${source} ${method} ${params}`);
    const result = code.has(source) ? code.get(source) : "0x";
    return result === undefined ? new Response("down", { status: 502 }) : Response.json({ jsonrpc: "2.0", id, result });
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The objects as deployed, except for the setting for their sources; each call creates a new one, as after an eviction. */
const bindings = standIns<"CHAIN_SOURCES" | "NETWORK_WATCHER">({
  CHAIN_SOURCES,
  NETWORK_WATCHER: {
    getByName: (network: string) => ({
      codeAt: (address: string) =>
        runInDurableObject(env.NETWORK_WATCHER.getByName(network), (_, state) =>
          new NetworkWatcher(state, { ...env, CHAIN_SOURCES }, watchDependencies).codeAt(address),
        ),
      wake: async () => {},
    }),
  },
});

const check = ({ merchantId, secret: key }: TestMerchant, walletId: string, changes: Partial<Env> = bindings) =>
  sendWith(changes, `/api/v1/merchants/merchant/${merchantId}/wallets/${walletId}/networks`, { key });

async function statesOf(shop: TestMerchant, walletId: string): Promise<object> {
  const answer = await check(shop, walletId);
  expect(answer.status, answer.text).toBe(200);
  const { networks }: { networks: { network: string; state: string }[] } = JSON.parse(answer.text);
  return Object.fromEntries(networks.map(({ network, state }) => [network, state]));
}

const FREE = {
  ETH: "FREE",
  POL: "FREE",
  BNB: "NO_SOURCE",
  CRO: "NO_SOURCE",
  BASE: "FREE",
  ARBITRUM: "FREE",
  OPTIMISM: "FREE",
};
const shopWith = async (network = "ETH") => {
  const shop = await freshMerchant();
  return { shop, wallet: await registered(shop, directBody(network === "ETH" ? "USDT" : "USDC", network)) };
};

describe("the check for other networks on which a wallet's address may be registered", () => {
  it("offers networks that report no code at the address, with their coins, and registers nothing", async () => {
    const { shop, wallet } = await shopWith();
    const taken = await registered(shop, directBody("USDC", "BASE"));
    const answer = await check(shop, wallet.id);
    const { address, networks } = JSON.parse(answer.text);
    expect(address).toBe(wallet.address);
    expect(networks.find(({ network }: { network: string }) => network === "BASE")).toEqual({
      network: "BASE",
      state: "FREE",
      coins: [
        { cryptocurrency: "ETH", walletId: null },
        { cryptocurrency: "USDC", walletId: taken.id },
        { cryptocurrency: "EURC", walletId: null },
      ],
    });
    expect(await statesOf(shop, wallet.id)).toEqual(FREE);
    expect((await shop.get("/wallets")).body).toHaveLength(2);
  });

  it("asks only test networks about a wallet on a test network", async () => {
    const { shop, wallet } = await shopWith("BASE_SEPOLIA");
    expect(await statesOf(shop, wallet.id)).toEqual({
      ETH_SEPOLIA: "NO_SOURCE",
      POL_AMOY: "NO_SOURCE",
      BNB_TESTNET: "NO_SOURCE",
      CRO_TESTNET: "NO_SOURCE",
      BASE_SEPOLIA: "FREE",
      ARBITRUM_SEPOLIA: "NO_SOURCE",
      OPTIMISM_SEPOLIA: "NO_SOURCE",
    });
    expect(asked).toEqual([`BASE_SEPOLIA-0 eth_getCode ${wallet.address},latest`]);
  });

  it("offers no network if even one source sees code, on the wallet's own network or on another", async () => {
    const { shop, wallet } = await shopWith();
    for (const [source, network] of [
      ["ETH-1", "ETH"],
      ["ARBITRUM-0", "ARBITRUM"],
    ] as const) {
      code = new Map([[source, CODE]]);
      const states = Object.entries(await statesOf(shop, wallet.id));
      expect(states.map(([name, state]) => state === (name === network ? "CODE" : "CODE_ELSEWHERE"))).not.toContain(
        false,
      );
    }
  });

  it("offers no network that fails to answer or answers nonsense, and no network at all if the wallet's own one fails to answer", async () => {
    const { shop, wallet } = await shopWith();
    code = new Map<string, unknown>([
      ["POL-0", undefined],
      ["BASE-0", null],
      ["OPTIMISM-0", "no code"],
    ]);
    const silent = { POL: "NO_ANSWER", BASE: "NO_ANSWER", OPTIMISM: "NO_ANSWER" };
    expect(await statesOf(shop, wallet.id)).toEqual({ ...FREE, ...silent });
    // An answer from only one of Ethereum's two sources is not enough to rule out code.
    code.set("ETH-1", undefined);
    expect(await statesOf(shop, wallet.id)).toEqual({ ...FREE, ...silent, ETH: "NO_ANSWER", ARBITRUM: "UNPROVEN" });
  });

  it("asks no network that an operator has paused", async () => {
    const { shop, wallet } = await shopWith();
    await seedCursor("BASE", { pausedAtMs: Date.now() });
    expect(await statesOf(shop, wallet.id)).toEqual({ ...FREE, BASE: "NO_ANSWER" });
    expect(asked.filter((call) => call.startsWith("BASE"))).toEqual([]);
  });

  it("waits at most ten seconds for a network, and offers none whose object fails", async () => {
    const waits: number[] = [];
    const given = { db: testDb, nowMs: Date.now(), background: () => {} };
    const sleep = async (ms: number) => void waits.push(ms);
    const of = (codeAt: () => Promise<string>) => ({
      ...env,
      ...standIns<"CHAIN_SOURCES" | "NETWORK_WATCHER">({
        CHAIN_SOURCES,
        NETWORK_WATCHER: { getByName: () => ({ codeAt }) },
      }),
    });
    const address = `0x${randomHex(20)}`;
    const silent = walletDependencies(
      of(() => new Promise(() => {})),
      { ...given, sleep },
    );
    expect([await silent.codeAt("ETH", address), waits]).toEqual(["NO_ANSWER", [10_000]]);
    const broken = walletDependencies(
      of(() => Promise.reject(new Error("reset"))),
      { ...given, sleep },
    );
    expect(await broken.codeAt("ETH", address)).toBe("NO_ANSWER");
  });

  it("offers no network for an extended key, and is refused for an altered row and after sixty checks in an hour", async () => {
    const { shop, wallet } = await shopWith();
    const { id } = await registered(shop, xpubWallet());
    expect(JSON.parse((await check(shop, id)).text)).toEqual({ address: null, networks: [] });
    await testDb
      .update(wallets)
      .set({ address: `0x${"66".repeat(20)}` })
      .where(eq(wallets.id, wallet.id));
    expectRefusal(await check(shop, wallet.id), 409, "WALLET_FROZEN");
    const { shop: other, wallet: own } = await shopWith();
    const none = { CHAIN_SOURCES: "{}" };
    for (let n = 0; n < LIMITS.networkChecksPerMerchantAndHour; n++)
      expect((await check(other, own.id, none)).status).toBe(200);
    expectRefusal(await check(other, own.id, none), 429, "RATE_LIMITED");
    expect(asked).toEqual([]);
  });
});
