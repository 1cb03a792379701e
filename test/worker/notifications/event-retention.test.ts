// Events are kept for 90 days, deliveries for 30 days after their last change, and a run's work is bounded.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { type EventId, makeId, newUlid } from "../../../src/lib/ids.ts";
import { DAY_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { forgetDeliveries } from "../../../src/notifications/delivery-log/forget-deliveries.ts";
import { deliveryIdOf } from "../../../src/notifications/webhooks/webhook.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { deliveries, deliveryAttempts } from "../../../src/platform/db/schema/webhooks.ts";
import { forgetEvents } from "../../../src/platform/events/forget-events.ts";
import { runJobs } from "../../support/run-jobs.ts";

const db = openDb(env.DB);
const NOW_MS = Date.now();
const MERCHANT = makeId("mer", newUlid(0, new Uint8Array(16)));

const newId = <P extends "evt" | "whk">(prefix: P, ms: number) =>
  makeId(prefix, newUlid(ms, crypto.getRandomValues(new Uint8Array(16))));

async function addEvent(createdAtMs: number, idMs = createdAtMs): Promise<EventId> {
  const id = newId("evt", idMs);
  await db.insert(events).values({ id, merchantId: MERCHANT, type: "ping", data: "{}", createdAtMs });
  return id;
}

/** Adds a delivery that was created at one time and last changed at another, with an attempt at each of these times. */
async function addDelivery(eventId: EventId, createdAtMs: number, updatedAtMs = createdAtMs) {
  const webhookId = newId("whk", createdAtMs);
  const id = deliveryIdOf(eventId, webhookId);
  const made = { merchantId: MERCHANT, webhookId, eventId, eventType: "ping", attempts: 2, step: 1, nextAttemptMs: 0 };
  const tried = { latencyMs: 1, requestHeaders: "{}" };
  await db.batch([
    db.insert(deliveries).values({ id, ...made, status: "PENDING", wakes: false, createdAtMs, updatedAtMs }),
    db.insert(deliveryAttempts).values([
      { deliveryId: id, number: 1, atMs: createdAtMs, ...tried },
      { deliveryId: id, number: 2, atMs: updatedAtMs, ...tried },
    ]),
  ]);
  return id;
}

const kept = async (id: EventId) => (await db.select().from(events).where(eq(events.id, id))).length === 1;
async function left(id: Awaited<ReturnType<typeof addDelivery>>) {
  const rows = await db.select().from(deliveries).where(eq(deliveries.id, id));
  const attempts = await db.select().from(deliveryAttempts).where(eq(deliveryAttempts.deliveryId, id));
  return { isKept: rows.length === 1, attempts: attempts.map(({ number }) => number) };
}

beforeEach(async () => {
  await db.batch([db.delete(events), db.delete(deliveries), db.delete(deliveryAttempts)]);
});

describe("an event", () => {
  it.each([
    ["is kept for 90 days", -MINUTE_MS, 0, true],
    ["is deleted after 90 days", MINUTE_MS, 0, false],
    ["with an older id is kept for 90 days from its own time", -MINUTE_MS, DAY_MS, true],
    ["with an older id is deleted after 90 days from its own time", MINUTE_MS, DAY_MS, false],
  ])("%s", async (_, pastMs, idOlderMs, isKept) => {
    const createdAtMs = NOW_MS - 90 * DAY_MS - pastMs;
    const id = await addEvent(createdAtMs, createdAtMs - idOlderMs);
    await forgetEvents(db, NOW_MS);
    expect(await kept(id)).toBe(isKept);
  });
});

describe("a delivery", () => {
  const LIMIT_MS = 30 * DAY_MS;

  it.each([
    ["is kept for 30 days with its attempts", -MINUTE_MS, { isKept: true, attempts: [1, 2] }],
    ["is deleted after 30 days with its attempts", MINUTE_MS, { isKept: false, attempts: [] }],
  ])("%s", async (_, pastMs, expected) => {
    const atMs = NOW_MS - LIMIT_MS - pastMs;
    const id = await addDelivery(await addEvent(atMs), atMs);
    await forgetDeliveries(db, NOW_MS);
    expect(await left(id)).toEqual(expected);
  });

  it("that was recently redelivered is kept, with only its recent attempts", async () => {
    const atMs = NOW_MS - 40 * DAY_MS;
    const id = await addDelivery(await addEvent(atMs), atMs, NOW_MS - DAY_MS);
    await forgetDeliveries(db, NOW_MS);
    expect(await left(id)).toEqual({ isKept: true, attempts: [2] });
  });

  it.each([
    ["when the event has just expired", 90 * DAY_MS + MINUTE_MS],
    ["when earlier runs missed it", 91 * DAY_MS],
  ])("is deleted after its event, however recently it was redelivered, %s", async (_, agoMs) => {
    const id = await addDelivery(await addEvent(NOW_MS - agoMs), NOW_MS - agoMs, NOW_MS - MINUTE_MS);
    await forgetDeliveries(db, NOW_MS);
    expect((await left(id)).isKept).toBe(true);
    await forgetEvents(db, NOW_MS);
    await forgetDeliveries(db, NOW_MS);
    expect(await left(id)).toEqual({ isKept: false, attempts: [] });
  });

  it("that earlier runs missed is deleted by the next one", async () => {
    const atMs = NOW_MS - LIMIT_MS - 40 * DAY_MS;
    const id = await addDelivery(await addEvent(atMs), atMs);
    await forgetDeliveries(db, NOW_MS);
    expect(await left(id)).toEqual({ isKept: false, attempts: [] });
  });
});

describe("a cleanup run", () => {
  const many = (count: number, table: "events" | "deliveries") =>
    env.DB.prepare(
      `insert into ${table} with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)
        select ${table === "events" ? "printf('evt_%026d', i), 'mer_1', 'ping', null, null, '{}', i, null, null" : "printf('dlv_%026d', i), 'mer_1', 'whk_1', 'evt_1', 'ping', 'FAILED', 0, 0, 0, null, 0, i, i"} from n`,
    )
      .bind(count)
      .run();
  const oldest = async (table: "events" | "deliveries") =>
    (await env.DB.prepare(`select count(*) count, min(created_at_ms) oldest from ${table}`).all()).results;

  it.each([
    ["events", forgetEvents],
    ["deliveries", forgetDeliveries],
  ] as const)("deletes at most 20,000 %s, oldest first", async (table, forget) => {
    await many(20_003, table);
    await forget(db, NOW_MS);
    expect(await oldest(table)).toEqual([{ count: 3, oldest: 20_000 }]);
    await forget(db, NOW_MS);
    expect(await oldest(table)).toEqual([{ count: 0, oldest: null }]);
  });

  it("is started by the cron", async () => {
    const atMs = Date.now() - 30 * DAY_MS - MINUTE_MS;
    const id = await addDelivery(await addEvent(atMs), atMs);
    const event = await addEvent(Date.now() - 90 * DAY_MS - MINUTE_MS);
    await runJobs();
    expect([(await left(id)).isKept, await kept(event)]).toEqual([false, false]);
  });
});
