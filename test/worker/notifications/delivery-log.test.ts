// The list of an endpoint's deliveries, and their redelivery one by one. Nothing is really delivered here: queue messages are recorded.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { DeliveryId } from "../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { selectDelivery, selectDeliveryPage } from "../../../src/notifications/delivery-log/store.ts";
import { deliveryIdOf } from "../../../src/notifications/webhooks/webhook.ts";
import { deliveries, deliveryAttempts } from "../../../src/platform/db/schema/webhooks.ts";
import { recordNews } from "../../support/endpoints.ts";
import {
  changeHook,
  type HookedMerchant,
  hookedMerchant,
  hookRow,
  makeHook,
  pathOf,
  sendAndWake,
} from "../../support/webhooks.ts";
import { testDb } from "../../support/worker-merchant.ts";

type DeliveryRow = typeof deliveries.$inferSelect;

const changeDelivery = (id: DeliveryId, columns: Partial<DeliveryRow>) =>
  testDb.update(deliveries).set(columns).where(eq(deliveries.id, id));

async function deliveryRow(id: DeliveryId): Promise<DeliveryRow | undefined> {
  const [row] = await testDb.select().from(deliveries).where(eq(deliveries.id, id));
  return row;
}

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

const attempt = (deliveryId: DeliveryId, number: number) => ({
  deliveryId,
  number,
  atMs: 1_000 * number,
  latencyMs: 12,
  statusCode: number === 1 ? null : 500,
  error: number === 1 ? "TIMEOUT" : null,
  requestHeaders: '{"webhook-id":"evt_1"}',
  response: number === 1 ? null : "no",
});

const read = async (shop: HookedMerchant, rest: string) => {
  const { status, text } = await shop.hooks(rest);
  return { status, body: JSON.parse(text) };
};

describe("an endpoint's log", () => {
  it("is paginated, newest first, and can be filtered by status", async () => {
    const shop = await owed(5);
    const [failed, succeeded] = shop.ids;
    if (failed === undefined || succeeded === undefined) throw new Error("too little is owed");
    await changeDelivery(failed, { status: "FAILED" });
    await changeDelivery(succeeded, { status: "SUCCEEDED" });
    const seen: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await read(shop, `/${shop.hook.id}/deliveries?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual(shop.ids.toReversed());
    const { body } = await read(shop, `/${shop.hook.id}/deliveries?status=FAILED`);
    expect(body).toMatchObject({ data: [{ id: failed, status: "FAILED", nextAttemptAt: null }], nextCursor: null });
    for (const query of ["?status=LOST", "?cursor=x"])
      expect(await read(shop, `/${shop.hook.id}/deliveries${query}`)).toMatchObject({ status: 400 });
  });

  it("shows a delivery with its last attempt, and with all attempts when it is read alone", async () => {
    const shop = await owed();
    const before = {
      status: "PENDING",
      attempts: 0,
      lastAttempt: null,
      eventId: shop.eventIds[0],
      webhookId: shop.hook.id,
    };
    const { body: fresh } = await read(shop, `/${shop.hook.id}/deliveries`);
    expect(fresh.data).toEqual([expect.objectContaining({ ...before, nextAttemptAt: fresh.data[0].createdAt })]);
    await testDb.insert(deliveryAttempts).values([attempt(shop.id, 1), attempt(shop.id, 2)]);
    await changeDelivery(shop.id, { attempts: 2, step: 2, nextAttemptMs: 4_102_444_800_000 });
    const lastAttempt = {
      number: 2,
      at: "1970-01-01T00:00:02.000Z",
      requestHeaders: { "webhook-id": "evt_1" },
      statusCode: 500,
      error: null,
      latencyMs: 12,
      response: "no",
    };
    const { body } = await read(shop, `/${shop.hook.id}/deliveries/${shop.id}`);
    expect(body).toMatchObject({ attempts: 2, nextAttemptAt: "2100-01-01T00:00:00.000Z", lastAttempt });
    expect(body.attemptLog).toEqual([
      lastAttempt,
      { ...lastAttempt, number: 1, at: "1970-01-01T00:00:01.000Z", statusCode: null, error: "TIMEOUT", response: null },
    ]);
    expect((await read(shop, `/${shop.hook.id}/deliveries`)).body.data[0].lastAttempt).toEqual(lastAttempt);
  });

  it("is accessible to its own merchant and under its own endpoint only", async () => {
    const [shop, other] = [await owed(), await owed()];
    const second = await makeHook(shop.hooks);
    const to = { from: "2026-01-01", to: "2026-01-02" };
    for (const [hookId, code] of [
      [other.hook.id, "WEBHOOK_NOT_FOUND"],
      ["whk_0", "WEBHOOK_NOT_FOUND"],
      [second.id, "DELIVERY_NOT_FOUND"],
    ] as const) {
      for (const id of [shop.id, other.id]) {
        expect(await read(shop, `/${hookId}/deliveries/${id}`)).toMatchObject({ status: 404, body: { code } });
        const again = await shop.hooks(`/${hookId}/deliveries/${id}/redeliver`, { method: "POST" });
        expect([again.status, JSON.parse(again.text).code]).toEqual([404, code]);
      }
      if (code === "DELIVERY_NOT_FOUND") continue;
      expect(await read(shop, `/${hookId}/deliveries`)).toMatchObject({ status: 404, body: { code } });
      expect(await shop.hooks(`/${hookId}/replay`, { method: "POST", body: to })).toMatchObject({ status: 404 });
    }
    expect(await deliveryRow(other.id)).toMatchObject({ updatedAtMs: (await deliveryRow(other.id))?.createdAtMs });
  });

  it("is read through indexes, with no more rows read than a page needs", async () => {
    const shop = await owed(60);
    const of = { merchantId: shop.merchantId, webhookId: shop.hook.id };
    for (const [page, index, most] of [
      // Across all statuses, each listed delivery costs three reads: an index entry, an entry of the merged result, and the row.
      [{ before: undefined, limit: 21 }, "COVERING INDEX deliveries_listed (webhook_id=? AND status=?)", 63],
      [
        { before: shop.ids[40], limit: 21 },
        "COVERING INDEX deliveries_listed (webhook_id=? AND status=? AND rowid<?)",
        68,
      ],
      [{ before: shop.ids[40], limit: 21, status: "PENDING" }, "INDEX deliveries_listed", 22],
    ] as const) {
      const { sql, params } = selectDeliveryPage(testDb, of, page).toSQL();
      const rows = await env.DB.prepare(sql)
        .bind(...params)
        .all();
      expect(rows.results).toHaveLength(21);
      expect(rows.meta.rows_read).toBeLessThanOrEqual(most);
      const plan = await env.DB.prepare(`explain query plan ${sql}`)
        .bind(...params)
        .all<{ detail: string }>();
      expect(plan.results.map(({ detail }) => detail).join("\n")).toContain(`SEARCH deliveries USING ${index}`);
    }
    const { sql, params } = selectDelivery(testDb, { ...of, deliveryId: shop.id }).toSQL();
    expect(
      (
        await env.DB.prepare(sql)
          .bind(...params)
          .all()
      ).meta.rows_read,
    ).toBeLessThanOrEqual(3);
  });
});

describe("a redelivery", () => {
  const resend = (
    { merchantId, key, hook, id }: Awaited<ReturnType<typeof owed>>,
    headers: Record<string, string> = {},
  ) => sendAndWake(pathOf(merchantId, `/${hook.id}/deliveries/${id}/redeliver`), { method: "POST", key, headers });

  it.each(["SUCCEEDED", "FAILED", "PENDING"] as const)(
    "of a delivery that is %s is due at once with a new schedule, and wakes an endpoint that is only probed",
    async (status) => {
      const shop = await owed();
      await changeDelivery(shop.id, { status, attempts: 7, step: 7, nextAttemptMs: 4_102_444_800_000 });
      await changeHook(shop.hook.id, { failuresInRow: 30, probeAtMs: 4_102_444_800_000 });
      const { answer, woken } = await resend(shop);
      expect(answer.status, answer.text).toBe(200);
      expect(JSON.parse(answer.text)).toMatchObject({ id: shop.id, status: "PENDING", attempts: 7 });
      expect(await deliveryRow(shop.id)).toMatchObject({
        status: "PENDING",
        attempts: 7,
        step: 0,
        nextAttemptMs: 0,
        claim: null,
      });
      expect(woken).toEqual([{ webhookId: shop.hook.id }]);
      expect(await hookRow(shop.hook.id)).toMatchObject({ probeAtMs: null, failuresInRow: 30 });
      expect((await read(shop, `/${shop.hook.id}/deliveries/${shop.id}`)).body).toEqual(JSON.parse(answer.text));
    },
  );

  it("does not change a delivery in progress, but restarts it once its lease has ended", async () => {
    const shop = await owed();
    const claimed = { claim: "01TOKEN:0", step: 3, attempts: 3, nextAttemptMs: Date.now() + HOUR_MS };
    await changeDelivery(shop.id, claimed);
    const { answer, woken } = await resend(shop);
    expect([answer.status, woken]).toEqual([200, []]);
    expect(await deliveryRow(shop.id)).toMatchObject(claimed);
    await changeDelivery(shop.id, { nextAttemptMs: Date.now() - 1 });
    await resend(shop);
    expect(await deliveryRow(shop.id)).toMatchObject({ claim: null, step: 0, nextAttemptMs: 0 });
  });

  it("happens once under one Idempotency-Key, whatever has happened to the delivery in the meantime", async () => {
    const shop = await owed();
    const headers = { "idempotency-key": crypto.randomUUID() };
    const first = await resend(shop, headers);
    await changeDelivery(shop.id, { status: "SUCCEEDED" });
    const second = await resend(shop, headers);
    expect([second.answer.text, second.woken]).toEqual([first.answer.text, []]);
    expect(await deliveryRow(shop.id)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("is refused when the endpoint is off or the event is gone", async () => {
    const shop = await owed();
    const before = await deliveryRow(shop.id);
    await env.DB.prepare("delete from events where id = ?").bind(shop.eventIds[0]).run();
    const gone = await resend(shop);
    expect([gone.answer.status, JSON.parse(gone.answer.text).code]).toEqual([404, "EVENT_NOT_FOUND"]);
    await changeHook(shop.hook.id, { isActive: false });
    const inactive = await resend(shop);
    expect([inactive.answer.status, JSON.parse(inactive.answer.text).code]).toEqual([422, "WEBHOOK_INACTIVE"]);
    expect(await deliveryRow(shop.id)).toEqual(before);
  });
});
