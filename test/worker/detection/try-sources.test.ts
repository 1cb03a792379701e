// Operators try the sources of a network: through the route and the watcher's object, with the real clients, and sources that hang, refuse, serve
// another chain, lag or work.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { openChainClient } from "../../../src/chains/dispatch/open-chain-client.ts";
import { type Network, type NetworkName, networkNamed } from "../../../src/chains/registry/networks.ts";
import { ChainPool } from "../../../src/chains/sources/chain-pool-client.ts";
import { parseChainSources } from "../../../src/chains/sources/chain-sources.ts";
import { recordKey } from "../../../src/chains/sources/source-host.ts";
import { beginWatch } from "../../../src/commerce/cursors/store.ts";
import type { WatchDependencies } from "../../../src/detection/passes/watch-pass.ts";
import { watchDependencies } from "../../../src/detection/watchers/dependencies.ts";
import { NetworkWatcher } from "../../../src/detection/watchers/network-watcher.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { type Answer, deploymentWith, expectRefusal } from "../../support/access.ts";
import { evmAnswer } from "../../support/evm-stand-in.ts";
import { seedUser, type TestUser } from "../../support/people.ts";
import { testDb } from "../../support/worker-merchant.ts";

const TIP = 1_000;
/** Short, because a source that hangs takes this long. */
const TIMEOUT_MS = 100;

type Fault = "hangs" | "no connection" | "wrong chain" | "logs" | "state" | "old" | "lags" | "page" | 403 | 404 | 429;

/** The fault of each host. */
const faults = new Map<string, Fault>();
const asked: string[] = [];
let operator: TestUser;
let name: NetworkName;

function networkOf(): Network {
  const network = networkNamed(name);
  if (network === undefined) throw new Error(name);
  return network;
}

async function answer(url: string, init: RequestInit): Promise<Response> {
  const { host } = new URL(url);
  asked.push(host);
  const fault = faults.get(host);
  if (fault === "hangs")
    return new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(new Error("aborted"))));
  if (fault === "no connection") throw new Error(`no route to ${url}`);
  if (fault === "page") return new Response("<html>Sign in</html>");
  if (fault === 429) return new Response("slow down", { status: 429, headers: { "retry-after": "40" } });
  if (typeof fault === "number") return new Response("no", { status: fault });
  const tip = fault === "lags" ? TIP - 100 : TIP;
  const tipMs = Date.now() - (fault === "old" ? HOUR_MS : 2_000);
  return Response.json(evmAnswer({ network: networkOf(), fault, tip, tipMs }, JSON.parse(String(init.body))));
}

const settings = (...hosts: readonly string[]) => ({
  CHAIN_SOURCES: JSON.stringify({
    [name]: hosts.map((host) => ({ kind: "evm-rpc", url: `https://${host}/hunter2?key=secret` })),
  }),
});

/** The dependencies of an object whose sources are the fakes. */
function watcherOf(of: Env): (of: Env, network: Network) => WatchDependencies {
  return (_, network) => {
    const parsed = parseChainSources(of);
    const sources = (parsed.ok && parsed.value.get(network.name)) || [];
    const clients = sources.map((source) =>
      openChainClient(source, network, { fetch: answer, nowMs: () => Date.now(), timeoutMs: TIMEOUT_MS }),
    );
    const keys = sources.map((source, place) => recordKey(place, source));
    const report = () => {};
    const pool = new ChainPool({
      network: network.name,
      clients,
      keys,
      random: () => 0,
      nowMs: () => Date.now(),
      report,
    });
    return { ...watchDependencies(of, network), pool };
  };
}

function deployment(...hosts: readonly string[]) {
  const own = { ...env, ...settings(...hosts) };
  const stub = env.NETWORK_WATCHER.getByName(name);
  const watcher = {
    wake: async () => {},
    trySources: () =>
      runInDurableObject(stub, (_, state) => new NetworkWatcher(state, own, watcherOf(own)).trySources()),
  };
  return deploymentWith({
    ...settings(...hosts),
    NETWORK_WATCHER: { getByName: () => watcher },
  } as unknown as Partial<Env>);
}

const PATH = () => `/api/v1/operator/networks/${name}/trial`;

async function trial(...hosts: readonly string[]): Promise<Answer> {
  return deployment(...hosts)(PATH(), { method: "POST", headers: operator.headers });
}

async function tried(...hosts: readonly string[]) {
  const { status, json, text } = await trial(...hosts);
  expect(status, text).toBe(200);
  expect(text).not.toMatch(/hunter2|secret/);
  return json?.data as readonly Record<string, unknown>[];
}

/** The stored state of the network's sources, as the page shows it. */
async function listed(...hosts: readonly string[]) {
  const { json } = await deployment(...hosts)("/api/v1/operator/networks", { headers: operator.headers });
  const networks = json?.data as readonly { readonly network: string; readonly sources: unknown }[];
  return networks.find(({ network }) => network === name)?.sources;
}

beforeEach(async () => {
  name = "ETH_SEPOLIA";
  faults.clear();
  asked.length = 0;
  vi.spyOn(console, "warn").mockReturnValue();
  await testDb.delete(networkCursors);
  await runInDurableObject(env.NETWORK_WATCHER.getByName(name), (_, state) => state.storage.delete("trials"));
  operator = await seedUser({ operatorSinceMs: Date.now() });
});

describe("trying the sources of a network", () => {
  it("says for each source what it answered, or why it failed and what to do next, even on a test network", async () => {
    const kinds: readonly [host: string, fault: Fault | undefined, outcome: string, code: string | null][] = [
      ["healthy.example", undefined, "OK", null],
      ["hangs.example", "hangs", "FAILED", "TIMEOUT"],
      ["gone.example", "no connection", "FAILED", "UNREACHABLE"],
      ["bans.example", 403, "FAILED", "BANNED"],
      ["limits.example", 429, "FAILED", "RATE_LIMITED"],
      ["path.example", 404, "FAILED", "BAD_STATUS"],
      ["page.example", "page", "FAILED", "NOT_JSON"],
      ["other.example", "wrong chain", "FAILED", "WRONG_CHAIN"],
      ["logs.example", "logs", "FAILED", "REFUSED"],
      ["lags.example", "lags", "BEHIND", "BEHIND"],
      ["old.example", "old", "BEHIND", "BEHIND"],
    ];
    for (const [host, fault] of kinds) if (fault !== undefined) faults.set(host, fault);
    const data = await tried(...kinds.map(([host]) => host));
    for (const [place, [host, , outcome, code]] of kinds.entries()) {
      const words =
        code === null ? null : { code, message: expect.any(String), nextStep: expect.stringMatching(/\.$/) };
      const role = place === 0 ? "FIRST" : "SECOND_OPINION";
      expect(data[place], host).toMatchObject({ kind: "evm-rpc", host, role, outcome, failure: words });
    }
    const [healthy, , , banned, limited, wrongPath] = data;
    expect(healthy).toMatchObject({
      height: TIP,
      latencyMs: expect.any(Number),
      blockAt: expect.any(String),
      askedAgainAt: null,
    });
    expect(banned).toMatchObject({ height: null, askedAgainAt: expect.any(String) });
    expect(Date.parse(String(limited?.askedAgainAt)) - Date.now()).toBeGreaterThan(30_000);
    expect(wrongPath).toMatchObject({ failure: { message: "It answered with an error (HTTP status 404)" } });
    expect(data[9]).toMatchObject({
      height: TIP - 100,
      failure: { message: "It is 100 blocks behind another source" },
    });
    expect(data[10]).toMatchObject({ failure: { message: "Its newest block is 60 minutes old" } });
  });

  it("warns of a node without the balances of recent blocks", async () => {
    name = "BASE_SEPOLIA";
    await runInDurableObject(env.NETWORK_WATCHER.getByName(name), (_, state) => state.storage.delete("trials"));
    faults.set("state.example", "state");
    const [source] = await tried("state.example");
    expect(source).toMatchObject({ outcome: "OK", warning: { code: "NO_BALANCES", nextStep: expect.any(String) } });
  });

  it("does not ask a source that refuses requests again, even after the object was evicted", async () => {
    await beginWatch(testDb, name, Date.now());
    faults.set("bans.example", 403);
    const [first] = await tried("bans.example", "healthy.example");
    expect(first).toMatchObject({ outcome: "FAILED", failure: { code: "BANNED" } });
    faults.clear();
    asked.length = 0;
    const [second, other] = await tried("bans.example", "healthy.example");
    expect(second).toMatchObject({
      outcome: "NOT_ASKED",
      failure: { code: "BANNED" },
      askedAgainAt: first?.askedAgainAt,
    });
    expect(other).toMatchObject({ outcome: "OK" });
    expect(asked).not.toContain("bans.example");
  });

  it("asks a source again after another kind of failure, and a success ends its pause for the next pass", async () => {
    await beginWatch(testDb, name, Date.now());
    faults.set("wrong.example", "wrong chain");
    await tried("wrong.example");
    expect(await listed("wrong.example")).toMatchObject([
      { failures: 1, lastOutage: "WRONG_CHAIN", answeredAt: null, lastFailure: { code: "WRONG_CHAIN" } },
    ]);
    faults.clear();
    expect(await tried("wrong.example")).toMatchObject([{ outcome: "OK", height: TIP }]);
    expect(await listed("wrong.example")).toMatchObject([
      {
        failures: 0,
        askedAgainAt: null,
        height: TIP,
        answeredAt: expect.any(String),
        lastFailure: { code: "WRONG_CHAIN" },
      },
    ]);
  });

  it("works while the network is paused, and changes nothing about it except the progress of its sources", async () => {
    await beginWatch(testDb, name, Date.now());
    await testDb.update(networkCursors).set({ pausedAtMs: 5 });
    const rows = () => testDb.select().from(networkCursors).where(eq(networkCursors.network, name));
    const [before] = await rows();
    expect(await tried("healthy.example")).toMatchObject([{ outcome: "OK" }]);
    const [after] = await rows();
    expect({ ...after, progress: "" }).toEqual({ ...before, progress: "" });
  });

  it(`is limited to ${LIMITS.sourceTrialsPerNetworkAndMinute} a minute for each network, for all operators together`, async () => {
    for (let n = 0; n < LIMITS.sourceTrialsPerNetworkAndMinute; n++) await tried("healthy.example");
    operator = await seedUser({ operatorSinceMs: Date.now() });
    const refused = await trial("healthy.example");
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const stub = env.NETWORK_WATCHER.getByName(name);
    await runInDurableObject(stub, async (_, { storage }) => {
      const times = (await storage.get<readonly number[]>("trials")) ?? [];
      await storage.put(
        "trials",
        times.map((ms) => ms - MINUTE_MS),
      );
    });
    expect(await tried("healthy.example")).toMatchObject([{ outcome: "OK" }]);
  });

  it("asks each source once when several operators try the sources at the same time", async () => {
    faults.set("hangs.example", "hangs");
    const own = { ...env, ...settings("hangs.example") };
    const outcomes = await runInDurableObject(env.NETWORK_WATCHER.getByName(name), (_, state) => {
      const watcher = new NetworkWatcher(state, own, watcherOf(own));
      return Promise.all([watcher.trySources(), watcher.trySources()]);
    });
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(asked).toEqual(["hangs.example"]);
  });

  it("is for operators, and refuses a network that does not exist, has no source, or whose watcher does not answer", async () => {
    const through = deployment("healthy.example");
    const post = (network: string) =>
      through(`/api/v1/operator/networks/${network}/trial`, { method: "POST", headers: operator.headers });
    expectRefusal(await post("DOGE"), 404, "NETWORK_NOT_FOUND");
    expectRefusal(await post("BTC"), 503, "NETWORK_NOT_WATCHED");
    const older = {
      wake: async () => {},
      trySources: () => Promise.reject(new Error("the object has no such method")),
    };
    const without = deploymentWith({
      ...settings("healthy.example"),
      NETWORK_WATCHER: { getByName: () => older },
    } as unknown as Partial<Env>);
    expectRefusal(await without(PATH(), { method: "POST", headers: operator.headers }), 503, "CHAIN_UNAVAILABLE");
    operator = await seedUser();
    expectRefusal(await trial("healthy.example"), 403, "OPERATOR_REQUIRED");
    expect(asked).toEqual([]);
  });
});
