// The networks in the response of /healthz.
import { beforeEach, describe, expect, it } from "vitest";
import { networkCursors, stuckAddresses } from "../../../src/platform/db/schema/network-cursors.ts";
import { sendWith } from "../../support/access.ts";
import { testDb } from "../../support/worker-merchant.ts";

const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "https://node.example" }] });
const NOTHING = {
  height: null,
  tipHeight: null,
  lagSeconds: null,
  isResting: true,
  degradedSince: null,
  askedAgainAt: null,
  unreadAddresses: 0,
};
const blank = { network: "ETH", sinceMs: 0, checkpoints: "[]", lastMovedAtMs: 0, isResting: false };

async function eth(...reasons: readonly string[]): Promise<unknown> {
  const answer = await sendWith({ CHAIN_SOURCES }, "/healthz");
  const found = answer.json?.reasons as readonly { readonly code: string }[];
  expect([answer.status, found.map(({ code }) => code)]).toEqual([reasons.length === 0 ? 200 : 503, reasons]);
  expect(answer.text).not.toContain("node.example");
  return (answer.json as { networks: { ETH: unknown } }).networks.ETH;
}

beforeEach(async () => {
  await testDb.delete(networkCursors);
  await testDb.delete(stuckAddresses);
});

describe("a configured network", () => {
  it("that was never watched has no height and no lag", async () => {
    expect(await eth()).toEqual(NOTHING);
  });

  it("shows how far it was read, its newest block, its lag, when its failures began, and its unread addresses", async () => {
    const passedMs = Date.now() - 90_000;
    const degradedSinceMs = 1_800_000_000_000;
    await testDb.insert(networkCursors).values({
      ...blank,
      lastMovedAtMs: passedMs,
      height: 7,
      hash: "h",
      tipHeight: 9,
      passedMs,
      degradedSinceMs,
      lastOutage: "TIMEOUT",
    });
    const stuck = {
      network: "ETH",
      source: "1 trongrid",
      readHeight: 1,
      passedMs: 1,
      failures: 9,
      sinceMs: 1,
      nextAtMs: 1,
    };
    await testDb.insert(stuckAddresses).values([
      { ...stuck, address: "0x01", reason: "BAD_STATUS", toldAtMs: 1 },
      { ...stuck, address: "0x02", reason: "BAD_STATUS" },
    ]);
    const shown = (await eth("ADDRESS_QUARANTINED")) as { lagSeconds: number };
    expect(shown).toEqual({
      height: 7,
      tipHeight: 9,
      isResting: false,
      degradedSince: "2027-01-15T08:00:00.000Z",
      askedAgainAt: null,
      unreadAddresses: 1,
      lagSeconds: expect.any(Number),
    });
    expect(shown.lagSeconds).toBeGreaterThanOrEqual(90);
    expect(shown.lagSeconds).toBeLessThan(120);
  });

  it("shows when a source that banned us will be asked again, even if an older release stored the progress without that time", async () => {
    const nowMs = Date.now();
    const openUntilMs = nowMs + 300_000;
    const sources = [{ kind: "evm-rpc", failures: 3, openUntilMs, lastOutage: "BANNED" }];
    const failing = { height: 7, hash: "h", tipHeight: 9, passedMs: nowMs, degradedSinceMs: nowMs - 400_000 };
    const row = { ...blank, ...failing, lastMovedAtMs: nowMs, lastOutage: "BANNED" };
    await testDb.insert(networkCursors).values({ ...row, progress: JSON.stringify({ sources }) });
    const askedAgainAt = new Date(openUntilMs).toISOString();
    const { json } = await sendWith({ CHAIN_SOURCES }, "/healthz");
    expect(json).toMatchObject({
      reasons: [
        {
          code: "CURSOR_STALE",
          detail: `ETH was read to block 7 of 9, and payments on it are awaited; each of its sources refuses further requests, and the first is asked again at ${askedAgainAt}`,
        },
      ],
      networks: { ETH: { askedAgainAt } },
    });
    for (const progress of ["{}", "not JSON"]) {
      await testDb.update(networkCursors).set({ progress });
      expect(await eth("CURSOR_STALE")).toMatchObject({ askedAgainAt: null });
    }
  });

  it("has no lag while nothing is watched on it", async () => {
    await testDb.insert(networkCursors).values({ ...blank, isResting: true, height: 7, hash: "h", passedMs: 0 });
    expect(await eth()).toEqual({ ...NOTHING, height: 7 });
  });
});
