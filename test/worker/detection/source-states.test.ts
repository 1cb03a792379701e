// A source bans the deployment: what a pass records about it, and what operators see. The states of sources must outlive the watcher, and contain no
// part of a URL except the host.
import { beforeEach, expect, test } from "vitest";
import { recordKey } from "../../../src/chains/sources/source-host.ts";
import { beginWatch } from "../../../src/commerce/cursors/store.ts";
import { isoTime, MINUTE_MS } from "../../../src/lib/time.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { deploymentWith } from "../../support/access.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { seedUser } from "../../support/people.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";

const sourcesOf = (...kinds: readonly string[]) => ({
  CHAIN_SOURCES: JSON.stringify({ ETH: kinds.map((kind, place) => ({ kind, url: urlOf(place) })) }),
});
const urlOf = (place: number) => `https://hunter:secret@node${place}.example:8443/token?key=secret`;
/** The storage keys of the deployed watcher's records about its sources. */
const keysOf = (...kinds: readonly "evm-rpc"[]) =>
  kinds.map((kind, place) => recordKey(place, { kind, url: `https://node${place}.example:8443/token?key=secret` }));

async function statesOf(settings: { readonly CHAIN_SOURCES: string }) {
  const { headers } = await seedUser({ operatorSinceMs: 1 });
  const { status, json, text } = await deploymentWith(settings)("/api/v1/operator/networks", { headers });
  expect(status, text).toBe(200);
  expect(text).not.toMatch(/secret|token|hunter/);
  const networks = json?.data as readonly { readonly network: string; readonly sources: unknown }[];
  return networks.find(({ network }) => network === "ETH")?.sources;
}

/** A watched network with a healthy source, and `others` more. */
async function watchedBy({ keys, others: count = 0 }: { readonly keys: readonly string[]; readonly others?: number }) {
  const nowMs = Date.now();
  const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  await watchMethod(testDb, { network: "ETH", cryptocurrency: "USDT", address, nowMs, expiresAtMs: nowMs + MINUTE_MS });
  const chain = new FakeChain({ startMs: nowMs - 12_000 * 9, blockMs: 12_000, blocks: 10 });
  const [source, ...others] = Array.from({ length: 1 + count }, () => new FakeSource(chain, { kind: "evm-rpc" }));
  if (source === undefined) throw new Error("no source");
  const watcher = new TestWatcher(testDb, "ETH", [source, ...others], nowMs);
  watcher.keys = keys;
  watcher.forget();
  return { watcher, source, others, nowMs };
}

beforeEach(async () => {
  await testDb.delete(networkCursors);
});

test("operators see that a source has banned us, how often it failed, and when it is asked again", async () => {
  const { watcher, source, nowMs } = await watchedBy({ keys: keysOf("evm-rpc") });
  const place = { kind: "evm-rpc", host: "node0.example:8443", role: "FIRST", mostAddresses: null };
  const never = {
    ...place,
    failures: 0,
    lastOutage: null,
    askedAgainAt: null,
    answeredAt: null,
    height: null,
    lastFailure: null,
  };
  expect(await statesOf(sourcesOf("evm-rpc"))).toEqual([never]);
  await watcher.pass();
  const well = { ...never, answeredAt: isoTime(nowMs), height: 9 };
  expect(await statesOf(sourcesOf("evm-rpc"))).toEqual([well]);
  source.down = "BANNED";
  watcher.nowMs += 1_000;
  await watcher.pass();
  const askedAgainAt = isoTime(watcher.nowMs + 30_000);
  const lastFailure = {
    code: "BANNED",
    message: "It refuses this deployment or its key",
    nextStep: expect.stringContaining("requests during a ban prolong it"),
    at: isoTime(watcher.nowMs),
  };
  const banned = { ...well, failures: 1, lastOutage: "BANNED", askedAgainAt, lastFailure };
  expect(await statesOf(sourcesOf("evm-rpc"))).toEqual([banned]);
  const { json } = await deploymentWith(sourcesOf("evm-rpc"))("/healthz");
  expect(json).toMatchObject({ networks: { ETH: { askedAgainAt } } });
  // A changed setting resets failures and pauses; a source's last answer and last failure are kept.
  const second = { ...never, host: "node1.example:8443", role: "SECOND_OPINION" };
  const answered = { ...well, lastFailure };
  expect(await statesOf(sourcesOf("evm-rpc", "evm-rpc"))).toEqual([answered, second]);
  // After it answers again, its last failure is still shown.
  source.down = undefined;
  watcher.nowMs += 31_000;
  await watcher.pass();
  expect(await statesOf(sourcesOf("evm-rpc"))).toEqual([{ ...answered, answeredAt: isoTime(watcher.nowMs) }]);
});

test("the state of a source is not shown for the source that replaces it, and survives an idle period of the network", async () => {
  const { watcher } = await watchedBy({ keys: keysOf("evm-rpc") });
  await watcher.pass();
  const elsewhere = {
    CHAIN_SOURCES: JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "https://other.example/token" }] }),
  };
  expect(await statesOf(elsewhere)).toMatchObject([{ host: "other.example", answeredAt: null, height: null }]);
  await testDb.update(networkCursors).set({ isResting: true });
  await beginWatch(testDb, "ETH", watcher.nowMs);
  expect(await statesOf(sourcesOf("evm-rpc"))).toMatchObject([{ answeredAt: isoTime(watcher.nowMs), height: 9 }]);
});

test("a second source shows its height and the time of its last answer", async () => {
  const { watcher, others } = await watchedBy({ keys: keysOf("evm-rpc", "evm-rpc"), others: 1 });
  const [second] = others;
  if (second === undefined) throw new Error("no second source");
  watcher.keepsMemory = true;
  await watcher.deps.pool.attemptWithout(
    watcher.deps.pool.available(watcher.nowMs)[0] ?? second.client,
    watcher.nowMs,
    async (client) => {
      const tip = await client.tip();
      if (tip.ok) watcher.deps.pool.noteTip(client, tip.value.height, watcher.nowMs);
      return tip;
    },
  );
  await watcher.pass();
  expect(await statesOf(sourcesOf("evm-rpc", "evm-rpc"))).toMatchObject([
    { role: "FIRST", height: 9 },
    { role: "SECOND_OPINION", height: 9, answeredAt: isoTime(watcher.nowMs) },
  ]);
});

test("operators see why CHAIN_SOURCES is invalid, without its text, and the name of the next unused part of the setting", async () => {
  const { headers } = await seedUser({ operatorSinceMs: 1 });
  const listed = async (settings: Partial<Env>) =>
    (await deploymentWith(settings)("/api/v1/operator/networks", { headers })).json;
  expect(await listed({ CHAIN_SOURCES: '{"ETH":[{"kind":"hunter2"}]}' } as Partial<Env>)).toMatchObject({
    settingError: "CHAIN_SOURCES of ETH, source 1: kind must be one of evm-rpc",
    freeSetting: "CHAIN_SOURCES_2",
  });
  expect(await listed({ CHAIN_SOURCES: "{}" } as Partial<Env>)).toMatchObject({
    settingError: null,
    freeSetting: "CHAIN_SOURCES",
  });
});
