// Replays of an endpoint's events from a time range. Nothing is really delivered here: queue messages are recorded.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import {
  type DeliveryId,
  type EventId,
  type MerchantId,
  makeId,
  newUlid,
  type WebhookId,
} from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/time.ts";
import { countReplay } from "../../../src/notifications/delivery-log/store.ts";
import { deliveryIdOf } from "../../../src/notifications/webhooks/webhook.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { deliveries } from "../../../src/platform/db/schema/webhooks.ts";
import type { EventType } from "../../../src/platform/events/event.ts";
import { recordOutbox } from "../../../src/platform/events/store.ts";
import { recordNews } from "../../support/endpoints.ts";
import {
  changeHook,
  deliveryRows,
  type HookedMerchant,
  hookedMerchant,
  hookRow,
  makeHook,
  pathOf,
  sendAndWake,
} from "../../support/webhooks.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

type DeliveryRow = typeof deliveries.$inferSelect;

const changeDelivery = (id: DeliveryId, columns: Partial<DeliveryRow>) =>
  testDb.update(deliveries).set(columns).where(eq(deliveries.id, id));

/** A merchant with an endpoint and this many pending deliveries to it. */
async function owed(count = 1, nowMs?: number) {
  const shop = await hookedMerchant();
  const hook = await makeHook(shop.hooks);
  const eventIds = await recordNews(testDb, shop.merchantId, count, nowMs);
  const ids = eventIds.map((eventId) => deliveryIdOf(eventId, hook.id));
  const [id] = ids;
  if (id === undefined) throw new Error("nothing is owed");
  return { ...shop, hook, eventIds, ids, id };
}

describe("a replay", () => {
  const NOW_MS = Date.now();
  const iso = (ms: number) => new Date(ms).toISOString();

  /** Records an event at a time; events are committed in the order of the calls. */
  async function happen(merchantId: MerchantId, type: EventType, createdAtMs: number): Promise<EventId> {
    const id = makeId("evt", newUlid(createdAtMs, crypto.getRandomValues(new Uint8Array(16))));
    const row = { id, merchantId, type, invoiceId: null, sequence: null, data: "{}", createdAtMs };
    const [first, ...more] = recordOutbox(testDb, [row]);
    if (first !== undefined) await commit(testDb, [first, ...more]);
    return id;
  }

  const replay = ({ merchantId, key }: HookedMerchant, hookId: WebhookId, body: object) =>
    sendAndWake(pathOf(merchantId, `/${hookId}/replay`), { method: "POST", key, body });

  it("schedules the events of a time range again, whatever happened to them, except for deliveries in progress", async () => {
    const shop = await hookedMerchant();
    const early = await happen(shop.merchantId, "invoice.paid", NOW_MS - 3 * HOUR_MS - 1);
    const hook = await makeHook(shop.hooks, { events: ["invoice.*"] });
    const other = await makeHook(shop.hooks);
    const at = NOW_MS - 3 * HOUR_MS;
    const first = await happen(shop.merchantId, "invoice.paid", at);
    // This event is committed after an event with a later time.
    const later = await happen(shop.merchantId, "invoice.expired", at + 2);
    const behind = await happen(shop.merchantId, "invoice.created", at + 1);
    const unwanted = await happen(shop.merchantId, "ping", at + 1);
    const end = await happen(shop.merchantId, "invoice.paid", at + HOUR_MS);
    const [delivered, held] = [deliveryIdOf(first, hook.id), deliveryIdOf(later, hook.id)];
    await changeDelivery(delivered, { status: "SUCCEEDED", attempts: 1, step: 1 });
    const claim = { claim: "01TOKEN:0", nextAttemptMs: Date.now() + HOUR_MS, step: 2, attempts: 2 };
    await changeDelivery(held, claim);
    await testDb.delete(deliveries).where(eq(deliveries.id, deliveryIdOf(behind, hook.id)));
    await changeHook(hook.id, { probeAtMs: 4_102_444_800_000 });
    const untouched = await deliveryRows(other.id);

    const { answer, woken } = await replay(shop, hook.id, { from: iso(at), to: iso(at + HOUR_MS) });
    expect([answer.status, answer.text, woken]).toEqual([202, '{"scheduled":3}', [{ webhookId: hook.id }]]);
    const rows = new Map((await deliveryRows(hook.id)).map((row) => [row.eventId, row]));
    expect([...rows.keys()].toSorted()).toEqual([first, later, behind, end].toSorted());
    const again = { status: "PENDING", step: 0, claim: null };
    expect(rows.get(first)).toMatchObject({ ...again, id: delivered, attempts: 1 });
    expect(rows.get(behind)).toMatchObject({
      ...again,
      id: deliveryIdOf(behind, hook.id),
      attempts: 0,
      eventType: "invoice.created",
    });
    // The first hundred are due at once.
    expect(rows.get(behind)?.nextAttemptMs).toBe(rows.get(first)?.nextAttemptMs);
    expect(rows.get(first)?.nextAttemptMs).toBeLessThanOrEqual(Date.now());
    expect(rows.get(later)).toMatchObject(claim);
    expect(rows.get(end)).toMatchObject({ updatedAtMs: rows.get(end)?.createdAtMs });
    expect(await hookRow(hook.id)).toMatchObject({ probeAtMs: null });
    expect(await deliveryRows(other.id)).toEqual(untouched);
    expect([early, unwanted].some((id) => rows.has(id))).toBe(false);
  });

  it("covers only the types that it names, even types that the endpoint does not subscribe to", async () => {
    const shop = await hookedMerchant();
    const hook = await makeHook(shop.hooks, { events: ["wallet.*"] });
    const at = NOW_MS - HOUR_MS;
    const wanted = [
      await happen(shop.merchantId, "invoice.paid", at),
      await happen(shop.merchantId, "team.member_joined", at),
    ];
    await happen(shop.merchantId, "invoice.expired", at);
    await happen(shop.merchantId, "ping", at);
    const body = { from: iso(at), to: iso(at + 1), types: ["invoice.paid", "invoice.paid", "team.*", "ping"] };
    expect((await replay(shop, hook.id, body)).answer.text).toBe('{"scheduled":2}');
    const rows = await deliveryRows(hook.id);
    expect(rows.map(({ eventId }) => eventId).toSorted()).toEqual(wanted.toSorted());
    expect((await replay(shop, hook.id, { ...body, types: undefined })).answer.text).toBe('{"scheduled":0}');
  });

  it.each([
    ["a range that ends before it begins", { from: iso(NOW_MS), to: iso(NOW_MS - 1) }, 400],
    ["an empty range", { from: iso(NOW_MS), to: iso(NOW_MS) }, 400],
    ["more than 90 days", { from: iso(NOW_MS - 90 * DAY_MS - 1), to: iso(NOW_MS) }, 400],
    ["an unknown type", { from: iso(NOW_MS - 1), to: iso(NOW_MS), types: ["invoice.payed"] }, 400],
    ["no range", {}, 400],
    ["a value that is not a time", { from: "yesterday", to: iso(NOW_MS) }, 400],
  ])("refuses %s", async (_, body, status) => {
    const shop = await hookedMerchant();
    const hook = await makeHook(shop.hooks);
    expect((await replay(shop, hook.id, body)).answer.status).toBe(status);
  });

  it("is refused when the endpoint is off", async () => {
    const shop = await owed();
    await changeHook(shop.hook.id, { isActive: false });
    const { answer } = await replay(shop, shop.hook.id, { from: iso(NOW_MS - DAY_MS), to: iso(NOW_MS + DAY_MS) });
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([422, "WEBHOOK_INACTIVE"]);
  });

  it("of 10,000 events is scheduled, and reads few additional rows to count them; a larger one is refused", async () => {
    const shop = await hookedMerchant();
    const hook = await makeHook(shop.hooks);
    const at = NOW_MS - 10 * DAY_MS;
    // The same merchant has 40,000 other events, half before the range and half after it.
    const many = (count: number, fromMs: number, stepMs: number) =>
      env.DB.prepare(
        `insert into events (id, merchant_id, type, data, created_at_ms) with recursive n(i) as (
          select 0 union all select i + 1 from n where i + 1 < ?1) select ?2 || i, ?3, 'invoice.paid', '{}', ?4 + i * ?5 from n`,
      ).bind(count, freshId("evt"), shop.merchantId, fromMs, stepMs);
    await env.DB.batch([
      many(20_000, at - 20_000 * 60_000, 60_000),
      many(10_000, at, 1),
      many(20_000, at + HOUR_MS, 30_000),
    ]);
    const range = { merchantId: shop.merchantId, fromMs: at, toMs: at + 10_000, types: ["invoice.paid"] } as const;
    const { sql, params } = countReplay(testDb, range, 10_001).toSQL();
    const counted = await env.DB.prepare(sql)
      .bind(...params)
      .all<{ count: number }>();
    expect(counted.results).toEqual([{ count: 10_000 }]);
    expect(counted.meta.rows_read).toBeLessThan(12_000);
    const few = countReplay(testDb, { ...range, toMs: at + 10 }, 10_001).toSQL();
    const small = await env.DB.prepare(few.sql)
      .bind(...few.params)
      .all<{ count: number }>();
    expect(small.results).toEqual([{ count: 10 }]);
    expect(small.meta.rows_read).toBeLessThan(12_000);
    const { answer } = await replay(shop, hook.id, { from: iso(at), to: iso(at + 10_000) });
    expect([answer.status, answer.text]).toEqual([202, '{"scheduled":10000}']);
    const { results } = await env.DB.prepare(
      "select count(*) owed, max(next_attempt_ms) - min(next_attempt_ms) span from deliveries where webhook_id = ?",
    )
      .bind(hook.id)
      .all();
    expect(results).toEqual([{ owed: 10_000, span: 99 * 5_000 }]);
    const { answer: larger } = await replay(shop, hook.id, { from: iso(at), to: iso(at + HOUR_MS + 1) });
    expect([larger.status, JSON.parse(larger.text)]).toMatchObject([
      422,
      { code: "REPLAY_TOO_LARGE", message: expect.stringContaining("10000") },
    ]);
  });

  it("finds exactly the events of any time range", async () => {
    const merchantId = freshId("mer");
    const foreign = freshId("mer");
    const times: number[] = [];
    for (let n = 0; n < 40; n++) times.push(n * 6 * HOUR_MS + (n % 3 === 1 ? -30 * 60_000 : 0));
    for (const [n, time] of times.entries()) {
      await happen(merchantId, n % 2 ? "invoice.paid" : "invoice.expired", time);
      if (n % 5 === 0) await happen(foreign, "invoice.paid", time);
    }
    for (let from = -2; from < 42; from += 3) {
      for (const length of [1, 2, 17, 60]) {
        const [fromMs, toMs] = [from * 6 * HOUR_MS, (from + length) * 6 * HOUR_MS - 1];
        const expected = times.filter((time) => time >= fromMs && time < toMs).length;
        const types = ["invoice.paid", "invoice.expired"] as const;
        const [found] = await countReplay(testDb, { merchantId, fromMs, toMs, types }, 100);
        expect([fromMs, toMs, found?.count]).toEqual([fromMs, toMs, expected]);
      }
    }
    const nothing = await countReplay(
      testDb,
      { merchantId: freshId("mer"), fromMs: 0, toMs: DAY_MS, types: ["ping"] },
      100,
    );
    expect(nothing).toEqual([{ count: 0 }]);
  });
});
