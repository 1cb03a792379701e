// A source that bans, from the pass that meets it to what operators read: the states of sources outlive the watcher, and name no address.
import { beforeEach, expect, test } from "vitest";
import { isoTime, MINUTE_MS } from "../../../src/lib/time.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { deploymentWith } from "../../support/access.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { seedUser } from "../../support/people.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";

const sourcesOf = (...kinds: readonly string[]) => ({
  CHAIN_SOURCES: JSON.stringify({ ETH: kinds.map((kind, place) => ({ kind, url: `https://node${place}.example` })) }),
});

async function statesOf(settings: { readonly CHAIN_SOURCES: string }) {
  const { headers } = await seedUser({ operatorSinceMs: 1 });
  const { status, json, text } = await deploymentWith(settings)("/api/v1/operator/networks", { headers });
  expect(status, text).toBe(200);
  expect(text).not.toContain(".example");
  const networks = json?.data as readonly { readonly network: string; readonly sources: unknown }[];
  return networks.find(({ network }) => network === "ETH")?.sources;
}

beforeEach(async () => {
  await testDb.delete(networkCursors);
});

test("operators see why a source bans, how often, and when it is asked again", async () => {
  const nowMs = Date.now();
  const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  await watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address, nowMs, expiresAtMs: nowMs + MINUTE_MS });
  const chain = new FakeChain({ startMs: nowMs - 12_000 * 9, blockMs: 12_000, blocks: 10 });
  const source = new FakeSource(chain, { kind: "evm-rpc" });
  const watcher = new TestWatcher(testDb, "ETH", [source], nowMs);
  const well = { kind: "evm-rpc", failures: 0, lastOutage: null, askedAgainAt: null };
  await watcher.pass();
  expect(await statesOf(sourcesOf("evm-rpc"))).toEqual([well]);
  source.down = "BANNED";
  await watcher.pass();
  const banned = { kind: "evm-rpc", failures: 1, lastOutage: "BANNED", askedAgainAt: isoTime(nowMs + 30_000) };
  expect(await statesOf(sourcesOf("evm-rpc"))).toEqual([banned]);
  const { json } = await deploymentWith(sourcesOf("evm-rpc"))("/healthz");
  expect(json).toMatchObject({ networks: { ETH: { askedAgainAt: banned.askedAgainAt } } });
  // The states say nothing about another setting.
  expect(await statesOf(sourcesOf("evm-rpc", "evm-rpc"))).toEqual([well, well]);
});
