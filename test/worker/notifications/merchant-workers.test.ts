// How many shared workers the slow endpoints of one merchant may use. Nothing is really sent: deliveries are only leased.
import { env } from "cloudflare:workers";
import { eq, inArray } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { MerchantId, WebhookId } from "../../../src/lib/ids.ts";
import { type DeliverDependencies, deliverTo } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import { deliverDependencies } from "../../../src/notifications/deliveries/dependencies.ts";
import {
  leaseMs,
  MOST_WORKERS_OF_MERCHANT,
  WORKERS_KEPT_FOR_FIRST,
} from "../../../src/notifications/deliveries/round.ts";
import { leaseBatch } from "../../../src/notifications/deliveries/store.ts";
import { MANY_FAILURES } from "../../../src/notifications/webhooks/retry-schedule.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { deliveries, webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import { addEndpoint, recordNews } from "../../support/endpoints.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

const NOW_MS = Date.now();
const TIMEOUT_MS = 30_000;

/** A merchant with this many endpoints, all subscribed to every event. */
async function shop(endpoints: number) {
  const { merchantId } = await freshMerchant();
  const ids: WebhookId[] = [];
  for (let n = 0; n < endpoints; n++) {
    const url = `http://127.0.0.1/slow${n}`;
    const { webhook } = await addEndpoint(testDb, env.SECRETS_AES_KEY, { merchantId, url, timeoutMs: TIMEOUT_MS });
    ids.push(webhook.id);
  }
  return { merchantId, ids };
}

let tokens = 0;
const claim = async (id: WebhookId, nowMs = NOW_MS) => {
  const token = String(++tokens).padStart(26, "0");
  const [, , claimed] = await batch(testDb, leaseBatch(testDb, { webhookId: id, token, nowMs }));
  return claimed.length;
};

/** Records one event after another, each of which wakes every endpoint; returns how many workers each endpoint got. */
async function workersOf({ merchantId, ids }: { merchantId: MerchantId; ids: readonly WebhookId[] }, events: number) {
  const workers = new Map(ids.map((id) => [id, 0]));
  for (let n = 0; n < events; n++) {
    await recordNews(testDb, merchantId, 1, NOW_MS);
    for (const id of ids) if ((await claim(id)) > 0) workers.set(id, (workers.get(id) ?? 0) + 1);
  }
  return [...workers.values()];
}
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

describe("the slow endpoints of one merchant", () => {
  it("occupy a limited number of workers in all, and other merchants' endpoints are served at once", async () => {
    const flood = await shop(25);
    expect(sum(await workersOf(flood, 6))).toBe(MOST_WORKERS_OF_MERCHANT);
    expect(await workersOf(await shop(1), 2)).toEqual([2]);
  });

  it("get all pending deliveries when the leases end", async () => {
    const flood = await shop(MOST_WORKERS_OF_MERCHANT + 1);
    const last = flood.ids.slice(-1);
    await workersOf(flood, 2);
    for (const id of last) {
      expect(await claim(id)).toBe(0);
      expect(await claim(id, NOW_MS + leaseMs(TIMEOUT_MS))).toBe(2);
    }
  });

  it("leave some workers for the merchant's endpoints that have none", async () => {
    const { merchantId, ids } = await shop(3);
    const slow = await workersOf({ merchantId, ids: ids.slice(0, 2) }, 10);
    expect(sum(slow)).toBe(MOST_WORKERS_OF_MERCHANT - WORKERS_KEPT_FOR_FIRST);
    expect(await workersOf({ merchantId, ids: ids.slice(2) }, 2)).toEqual([1]);
  });

  it("count towards the limit even while they are probed", async () => {
    const flood = await shop(MOST_WORKERS_OF_MERCHANT + 3);
    await testDb.update(webhooks).set({ failuresInRow: MANY_FAILURES }).where(inArray(webhooks.id, flood.ids));
    expect(sum(await workersOf(flood, 2))).toBe(MOST_WORKERS_OF_MERCHANT);
  });
});

/**
 * A worker at `nowMs` whose receivers answer `statusCode`, or never if it is null. `wakes` lists the endpoints that it wakes, and after how many
 * seconds.
 */
function worker(nowMs: number, statusCode: number | null) {
  const wakes: [string, number][] = [];
  const posted: (string | undefined)[] = [];
  const answer = { statusCode, error: statusCode === null ? ("TIMEOUT" as const) : null, latencyMs: 1 };
  const deps: DeliverDependencies = {
    ...deliverDependencies(env, () => undefined),
    db: testDb,
    nowMs: () => nowMs,
    rules: { isLoopbackOpen: true },
    wake: async (id, seconds) => void wakes.push([id, seconds]),
    post: async ({ headers }) => {
      posted.push(headers["x-webhook-id"]);
      return { ...answer, response: null, retryAfter: null };
    },
    report: () => undefined,
  };
  return { deps, wakes, posted };
}

describe("a worker that has finished", () => {
  it.each([
    ["with an endpoint that hangs", null],
    ["with all due deliveries", 200],
  ])(
    "%s wakes the merchant's endpoint that has waited longest without a worker, before its own endpoint",
    async (_, status) => {
      // Other endpoints occupy all of the merchant's workers except one.
      const { merchantId, ids } = await shop(MOST_WORKERS_OF_MERCHANT + 2);
      const [own, late, longest, ...busy] = ids;
      if (own === undefined || late === undefined || longest === undefined) throw new Error("too few");
      await recordNews(testDb, merchantId, 50, NOW_MS - 20_000);
      const longer = { nextAttemptMs: NOW_MS - 30_000 };
      await testDb
        .update(deliveries)
        .set(longer)
        .where(inArray(deliveries.webhookId, [...busy, longest]));
      for (const id of busy) expect(await claim(id)).toBeGreaterThan(0);
      const { deps, wakes } = worker(NOW_MS, status);
      await deliverTo(deps, own);
      const others = wakes.filter(([id]) => id !== own);
      expect(others).toEqual([[longest, 0]]);
      expect(wakes.filter(([id]) => id === own).every(([, seconds]) => seconds >= 4)).toBe(true);
      expect(wakes.some(([id]) => id === own)).toBe(true);
    },
  );

  it("wakes no endpoint that has just been woken, has nothing due, is switched off or is not to be probed yet", async () => {
    const { merchantId, ids } = await shop(4);
    const [own, fresh, off, probed] = ids;
    if (own === undefined || fresh === undefined || off === undefined || probed === undefined) throw new Error("few");
    await recordNews(testDb, merchantId, 1, NOW_MS - 20_000);
    await testDb
      .update(deliveries)
      .set({ nextAttemptMs: NOW_MS - 1_000 })
      .where(eq(deliveries.webhookId, fresh));
    await testDb.update(webhooks).set({ isActive: false }).where(eq(webhooks.id, off));
    const later = { failuresInRow: MANY_FAILURES, probeAtMs: NOW_MS + 1_000 };
    await testDb.update(webhooks).set(later).where(eq(webhooks.id, probed));
    const { deps, wakes } = worker(NOW_MS, 200);
    await deliverTo(deps, own);
    expect(wakes).toEqual([]);
  });

  it("makes sure that every endpoint of a merchant is served, however slowly each of them answers", async () => {
    const { merchantId, ids } = await shop(20);
    await recordNews(testDb, merchantId, 2, NOW_MS);
    // Events send one message for each endpoint. Each worker is busy for a whole time limit, and only workers wake further endpoints.
    let messages = ids.map((id): { id: string; atMs: number } => ({ id, atMs: NOW_MS }));
    const served = new Set<string>();
    for (let steps = 0; messages.length > 0 && served.size < ids.length && steps < 500; steps++) {
      messages = messages.toSorted((a, b) => a.atMs - b.atMs);
      const at = messages[0]?.atMs ?? 0;
      const together = messages.filter(({ atMs }) => atMs === at);
      messages = messages.filter(({ atMs }) => atMs !== at);
      messages.push(...(await serve(together, at, served)));
    }
    expect(served.size).toBe(ids.length);
  });
});

/** Runs a worker for each message, all at once, with endpoints that never answer; returns the endpoints that they wake after the time limit. */
async function serve(together: readonly { readonly id: string }[], atMs: number, served: Set<string>) {
  const woken: { id: string; atMs: number }[] = [];
  // No request ends before each worker has claimed deliveries or got none.
  const gate = Promise.withResolvers<void>();
  const arrived = new Set<number>();
  const arrive = (n: number) => {
    if (arrived.add(n).size === together.length) gate.resolve();
  };
  const all = together.map(async ({ id }, n) => {
    const { deps, wakes, posted } = worker(atMs, null);
    let passedMs = 0;
    const post: DeliverDependencies["post"] = async (request) => {
      arrive(n);
      await gate.promise;
      passedMs = TIMEOUT_MS;
      return deps.post(request);
    };
    await deliverTo({ ...deps, post, nowMs: () => atMs + passedMs }, id);
    arrive(n);
    return { wakes, posted };
  });
  for (const { wakes, posted } of await Promise.all(all)) {
    for (const id of posted) if (id !== undefined) served.add(id);
    for (const [id, seconds] of wakes) woken.push({ id, atMs: atMs + TIMEOUT_MS + seconds * 1_000 });
  }
  return woken;
}
