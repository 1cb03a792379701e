// Races between deliveries: a slow clock, a delivery that woke no endpoint, an attempt that outlived its delivery, and too many workers for one
// endpoint. Nothing is really sent: the receiver is a function.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { EventId, WebhookId } from "../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { type DeliverDependencies, deliverTo } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import { deliverDependencies } from "../../../src/notifications/deliveries/dependencies.ts";
import { leaseMs, MOST_WORKERS } from "../../../src/notifications/deliveries/round.ts";
import { leaseBatch } from "../../../src/notifications/deliveries/store.ts";
import { deliveryIdOf } from "../../../src/notifications/webhooks/webhook.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { deliveries, deliveryAttempts } from "../../../src/platform/db/schema/webhooks.ts";
import { addEndpoint, recordNews } from "../../support/endpoints.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

const NOW_MS = Date.now();

/** An endpoint of a new merchant, a function that records events for it, and the endpoints that these events wake. */
async function shop() {
  const { merchantId } = await freshMerchant();
  const url = "http://127.0.0.1/never-called";
  const { webhook } = await addEndpoint(testDb, env.SECRETS_AES_KEY, { merchantId, url, timeoutMs: 1_000 });
  const woken: string[] = [];
  const db = openDb(env.DB, { wake: (ids) => void woken.push(...ids) });
  return {
    merchantId,
    id: webhook.id,
    woken,
    happen: (count: number, atMs: number) => recordNews(db, merchantId, count, atMs),
  };
}

/** A worker whose clock shows `nowMs`, and the events that it has sent. */
function worker(nowMs: number, changes: Partial<DeliverDependencies> = {}) {
  const posted: (string | undefined)[] = [];
  const reports: string[] = [];
  const deps: DeliverDependencies = {
    ...deliverDependencies(env, () => undefined),
    db: testDb,
    nowMs: () => nowMs,
    rules: { isLoopbackOpen: true },
    wake: async () => undefined,
    post: async ({ headers }) => {
      posted.push(headers["webhook-id"]);
      return { statusCode: 200, error: null, latencyMs: 1, response: "", retryAfter: null };
    },
    report: (alert) => void reports.push(alert),
    ...changes,
  };
  return { deps, posted, reports };
}

const rowsOf = (id: WebhookId) => testDb.select().from(deliveries).where(eq(deliveries.webhookId, id));
const moveAll = (id: WebhookId, columns: Partial<typeof deliveries.$inferInsert>) =>
  testDb.update(deliveries).set(columns).where(eq(deliveries.webhookId, id));
const firstOf = ([id]: readonly EventId[]): EventId => {
  if (id === undefined) throw new Error("nothing happened");
  return id;
};

describe("an event wakes its endpoint", () => {
  it.each([
    [
      "while a replay is running, although its deliveries become due without a message",
      { createdAtMs: NOW_MS - HOUR_MS },
    ],
    ["after a delivery whose distant retry was left to the cron", { attempts: 4, step: 4 }],
  ])("%s", async (_, columns) => {
    const { id, woken, happen } = await shop();
    await happen(1, NOW_MS - HOUR_MS);
    await moveAll(id, { ...columns, nextAttemptMs: NOW_MS - 50 });
    woken.length = 0;
    await happen(1, NOW_MS);
    expect(woken).toEqual([id]);
  });

  it("once for several events within a few seconds", async () => {
    const { id, woken, happen } = await shop();
    await happen(3, NOW_MS - 2_000);
    await happen(1, NOW_MS);
    expect(woken).toEqual([id]);
  });
});

it("an event is committed, and reaches the other endpoints, when one endpoint's subscriptions cannot be parsed", async () => {
  const { merchantId, id, happen } = await shop();
  const url = "http://127.0.0.1/never-called";
  const broken = await addEndpoint(testDb, env.SECRETS_AES_KEY, { merchantId, url, events: '["invoice' });
  await happen(1, NOW_MS);
  expect([(await rowsOf(id)).length, (await rowsOf(broken.webhook.id)).length]).toEqual([1, 0]);
});

describe("a worker whose clock is behind", () => {
  it("takes deliveries that were just committed, but no retry that is due later", async () => {
    const { id, happen } = await shop();
    const later = firstOf(await happen(1, NOW_MS - HOUR_MS));
    await moveAll(id, { attempts: 1, step: 1, nextAttemptMs: NOW_MS + 100 });
    const fresh = firstOf(await happen(1, NOW_MS + 100));
    const { deps, posted } = worker(NOW_MS);
    await deliverTo(deps, id);
    expect(posted).toEqual([fresh]);
    expect((await rowsOf(id)).find(({ eventId }) => eventId === later)).toMatchObject({ attempts: 1, claim: null });
  });
});

describe("a delivery that is due again", () => {
  it("is recorded even if an attempt of a deleted delivery with the same id is stored", async () => {
    const { id, happen } = await shop();
    const eventId = firstOf(await happen(1, NOW_MS));
    const old = { number: 1, atMs: 1, latencyMs: 1, statusCode: 500, requestHeaders: "{}", response: "old" };
    await testDb.insert(deliveryAttempts).values({ deliveryId: deliveryIdOf(eventId, id), ...old });
    const { deps } = worker(NOW_MS);
    await deliverTo(deps, id);
    expect(await rowsOf(id)).toMatchObject([{ status: "SUCCEEDED", attempts: 1 }]);
    const attempts = await testDb
      .select()
      .from(deliveryAttempts)
      .where(eq(deliveryAttempts.deliveryId, deliveryIdOf(eventId, id)));
    expect(attempts).toMatchObject([{ number: 1, statusCode: 200, response: "", atMs: NOW_MS }]);
  });
});

describe("an endpoint", () => {
  const claimOf = (id: WebhookId, n: number, nowMs: number) =>
    batch(testDb, leaseBatch(testDb, { webhookId: id, token: String(n).padEnd(26, "0"), nowMs })).then(
      ([, , claimed]) => claimed.length,
    );

  it("that hangs occupies only a few workers, even if its events arrive one by one", async () => {
    const { id, happen } = await shop();
    const taken: number[] = [];
    for (let n = 1; n <= MOST_WORKERS + 2; n++) {
      await happen(1, NOW_MS);
      taken.push(await claimOf(id, n, NOW_MS));
    }
    expect(taken).toEqual([...Array.from({ length: MOST_WORKERS }, () => 1), 0, 0]);
    expect(await claimOf(id, 100, NOW_MS + leaseMs(1_000))).toBe(MOST_WORKERS + 2);
  });

  it("gets events that were recorded during a delivery from the same worker", async () => {
    const { id, happen } = await shop();
    await happen(1, NOW_MS);
    let late: EventId | undefined;
    const { deps, posted } = worker(NOW_MS, {
      open: async () => {
        if (late === undefined) late = firstOf(await happen(1, NOW_MS));
        return ["whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="];
      },
    });
    await deliverTo(deps, id);
    expect(posted).toHaveLength(2);
    expect(posted).toContain(late);
  });
});
