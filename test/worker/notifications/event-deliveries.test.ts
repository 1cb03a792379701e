// The deliveries of one event: to which endpoints it was sent, and with what result.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { selectEventDeliveries } from "../../../src/notifications/delivery-log/store.ts";
import { deliveryIdOf } from "../../../src/notifications/webhooks/webhook.ts";
import { deliveryAttempts } from "../../../src/platform/db/schema/webhooks.ts";
import { send } from "../../support/access.ts";
import { recordNews } from "../../support/endpoints.ts";
import { planOf } from "../../support/query-plan.ts";
import { type HookedMerchant, hookedMerchant, makeHook } from "../../support/webhooks.ts";
import { testDb } from "../../support/worker-merchant.ts";

/** A merchant with two endpoints and this many pending deliveries to each. */
async function owed(count: number) {
  const shop = await hookedMerchant();
  const hooks = [await makeHook(shop.hooks), await makeHook(shop.hooks)];
  const eventIds = await recordNews(testDb, shop.merchantId, count);
  const [eventId] = eventIds;
  if (eventId === undefined) throw new Error("nothing is owed");
  return { ...shop, hookIds: hooks.map(({ id }) => id).toSorted(), eventId };
}

async function read({ merchantId, key }: HookedMerchant, eventId: string) {
  const { status, text } = await send(`/api/v1/merchants/merchant/${merchantId}/events/${eventId}/deliveries`, { key });
  return { status, text, body: JSON.parse(text) };
}

describe("the deliveries of an event", () => {
  it("are one for each endpoint, with the last attempt, and none of another event", async () => {
    const shop = await owed(3);
    const [id] = shop.hookIds.map((hookId) => deliveryIdOf(shop.eventId, hookId));
    if (id === undefined) throw new Error("no endpoint");
    await testDb.insert(deliveryAttempts).values({
      deliveryId: id,
      number: 1,
      atMs: 1_000,
      latencyMs: 12,
      statusCode: 500,
      error: null,
      requestHeaders: "{}",
      response: "no",
    });
    await env.DB.prepare("update deliveries set attempts = 1 where id = ?").bind(id).run();
    const { body, text } = await read(shop, shop.eventId);
    expect(
      body.data.map(({ webhookId }: { webhookId: string }) => webhookId),
      text,
    ).toEqual(shop.hookIds);
    expect(body.data).toMatchObject([
      { id, eventId: shop.eventId, status: "PENDING", attempts: 1, lastAttempt: { statusCode: 500, response: "no" } },
      { eventId: shop.eventId, attempts: 0, lastAttempt: null },
    ]);
  });

  it("can be read only by the event's own merchant", async () => {
    const [shop, other] = [await owed(1), await hookedMerchant()];
    for (const eventId of [shop.eventId, "evt_0"]) {
      const { status, body } = await read(other, eventId);
      expect([status, body.code]).toEqual([404, "EVENT_NOT_FOUND"]);
    }
  });

  it("are found by their own ids, however many others there are", async () => {
    const plan = await planOf(selectEventDeliveries(testDb, { merchantId: "mer_1", eventId: "evt_1" }));
    expect(plan).toContain("SEARCH deliveries USING INDEX sqlite_autoindex_deliveries_1 (id=?)");
    expect(plan).not.toMatch(/SCAN (deliveries|event|hook)\b/);
  });
});
