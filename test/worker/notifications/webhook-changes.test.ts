import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { pingBody } from "../../../src/notifications/webhooks/contract.ts";
import { deliveryIdOf } from "../../../src/notifications/webhooks/webhook.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { deliveries } from "../../../src/platform/db/schema/webhooks.ts";
import { fanOut } from "../../../src/platform/events/store.ts";
import { expectRefusal } from "../../support/access.ts";
import { auditOf, eventsOf } from "../../support/api-keys.ts";
import { expectDocumented } from "../../support/documented.ts";
import {
  changeHook,
  deliveryRows,
  ENDPOINT,
  hookedMerchant,
  hookRow,
  makeHook,
  pathOf,
  secretRows,
  sendAndWake,
  shown,
} from "../../support/webhooks.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import { DELETE, PATCH, POST, sendBeaten } from "./webhooks-harness.ts";

describe("a change", () => {
  it("keeps the fields that it does not name, is returned and stored, and advances updatedAt", async () => {
    const { hooks } = await hookedMerchant();
    const { secret: _, ...made } = await makeHook(hooks);
    const changes = { events: ["invoice.paid"], description: "New", retryCount: 3, timeout: 30_000 };
    const changed = shown(await hooks(`/${made.id}`, { ...PATCH, body: changes }), 200);
    expect(changed).toEqual({ ...made, ...changes, updatedAt: changed.updatedAt });
    expect(changed.updatedAt > made.updatedAt).toBe(true);
    expect((await hooks(`/${made.id}`)).json).toEqual(changed);
    expect(shown(await hooks(`/${made.id}`, { ...PATCH, body: { description: null } }), 200).description).toBeNull();
  });

  it("that changes nothing writes nothing", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks, { events: ["invoice.*", "ping"] });
    await changeHook(id, { failuresInRow: 3, failingSinceMs: 1 });
    const before = await hookRow(id);
    const body = { ...ENDPOINT, events: ["invoice.*", "ping", "ping"], isActive: true, retryCount: 9, timeout: 15_000 };
    const { answer, woken } = await sendAndWake(pathOf(merchantId, `/${id}`), { ...PATCH, key, body });
    expect([answer.status, woken]).toEqual([200, []]);
    expect(await hookRow(id)).toEqual(before);
    expect((await auditOf(merchantId)).map(({ action }) => action)).toEqual(["webhook.created"]);
    expectRefusal(await hooks(`/${id}`, { ...PATCH, body: {} }), 400, "VALIDATION_FAILED");
  });

  it("that switches an endpoint on resets its health and the reason it was off, and wakes it", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const failing = { failuresInRow: 40, failingSinceMs: 1_000, probeAtMs: 9_000 };
    await changeHook(id, { ...failing, isActive: false, disabledReason: "GONE", disabledAtMs: 5_000 });
    expect((await hooks(`/${id}`)).json).toMatchObject({
      isActive: false,
      disabledReason: "GONE",
      disabledAt: "1970-01-01T00:00:05.000Z",
      failuresInRow: 40,
      failingSince: "1970-01-01T00:00:01.000Z",
    });
    const { answer, woken } = await sendAndWake(pathOf(merchantId, `/${id}`), {
      ...PATCH,
      key,
      body: { isActive: true },
    });
    const well = { isActive: true, disabledReason: null, failuresInRow: 0 };
    expect(answer.json).toMatchObject({ ...well, disabledAt: null, failingSince: null });
    expect(await hookRow(id)).toMatchObject({ ...well, disabledAtMs: null, failingSinceMs: null, probeAtMs: null });
    expect(woken).toEqual([{ webhookId: id }]);
  });

  it("of the URL resets the endpoint's health, but does not switch it on", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const [probed, gone] = [await makeHook(hooks), await makeHook(hooks)];
    const failing = { failuresInRow: 40, failingSinceMs: 1_000, probeAtMs: 9_000 };
    await changeHook(probed.id, failing);
    await changeHook(gone.id, { ...failing, isActive: false, disabledReason: "FAILING", disabledAtMs: 5_000 });
    const ask = { ...PATCH, key, body: { url: "https://other.example.com/" } };
    const well = { failuresInRow: 0, failingSinceMs: null, probeAtMs: null, url: ask.body.url };
    expect((await sendAndWake(pathOf(merchantId, `/${probed.id}`), ask)).woken).toEqual([{ webhookId: probed.id }]);
    expect(await hookRow(probed.id)).toMatchObject({ ...well, isActive: true });
    expect((await sendAndWake(pathOf(merchantId, `/${gone.id}`), ask)).woken).toEqual([]);
    expect(await hookRow(gone.id)).toMatchObject({ ...well, isActive: false, disabledReason: "FAILING" });
  });

  it("of anything else leaves the endpoint's health unchanged", async () => {
    const { hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const failing = { failuresInRow: 40, failingSinceMs: 1_000, probeAtMs: 9_000 };
    await changeHook(id, failing);
    const body = { url: ENDPOINT.url, events: ["ping"], retryCount: 1, timeout: 2_000, description: "x" };
    expect((await hooks(`/${id}`, { ...PATCH, body })).status).toBe(200);
    expect(await hookRow(id)).toMatchObject(failing);
    expect((await hooks(`/${id}`, { ...PATCH, body: { isActive: false } })).status).toBe(200);
    expect(await hookRow(id)).toMatchObject({ ...failing, isActive: false, disabledReason: null });
  });

  it("is decided again after a concurrent change, so that both are kept", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const answer = await sendBeaten(
      ...([pathOf(merchantId, `/${id}`), { ...PATCH, key, body: { retryCount: 1 } }] as const),
      () => hooks(`/${id}`, { ...PATCH, body: { timeout: 2_000 } }),
    );
    expect(answer.json).toMatchObject({ retryCount: 1, timeout: 2_000 });
    expect(await hookRow(id)).toMatchObject({ retryCount: 1, timeoutMs: 2_000 });
  });

  it("that switches an endpoint on takes precedence over a concurrent switch-off because of failures", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks, { isActive: false });
    const off = { isActive: false, disabledReason: "FAILING", disabledAtMs: 1 } as const;
    await changeHook(id, { isActive: true });
    const ask = { ...PATCH, key, body: { isActive: true, description: "on" } };
    // Only isActive changes here, not updatedAt, so the update must compare both.
    const answer = await sendBeaten(pathOf(merchantId, `/${id}`), ask, () => changeHook(id, off));
    expect(answer.json).toMatchObject({ isActive: true, disabledReason: null });
    expect(await hookRow(id)).toMatchObject({ isActive: true, disabledReason: null, description: "on" });
  });

  it("of an endpoint that is deleted during the request is refused as WEBHOOK_NOT_FOUND", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const ask = { ...PATCH, key, body: { retryCount: 1 } };
    const answer = await sendBeaten(pathOf(merchantId, `/${id}`), ask, () => hooks(`/${id}`, DELETE));
    expectRefusal(answer, 404, "WEBHOOK_NOT_FOUND");
    expect(await hookRow(id)).toBeUndefined();
  });

  it("is recorded in the audit log without the URL's query, even if only the query changed", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks, { url: "https://hooks.example.com/a?token=hush1" });
    await hooks(`/${id}`, { ...PATCH, body: { url: "https://hooks.example.com/a?token=hush2" } });
    await hooks(`/${id}`, { ...PATCH, body: { url: "https://hooks.example.com/b?token=hush3", retryCount: 1 } });
    await hooks(`/${id}`, DELETE);
    const entries = await auditOf(merchantId);
    expect(JSON.stringify(entries)).not.toContain("hush");
    const facts = entries.map(({ action, target, before, after }) => ({
      action,
      target,
      before: JSON.parse(before ?? "null"),
      after: JSON.parse(after ?? "null"),
    }));
    const [a, b] = ["https://hooks.example.com/a?...", "https://hooks.example.com/b?..."];
    const all = { events: ["*"], description: null, isActive: true, retryCount: 9, timeout: 15_000 };
    expect(facts).toEqual([
      { action: "webhook.created", target: id, before: null, after: { ...all, url: a, format: "STANDARD" } },
      { action: "webhook.updated", target: id, before: { url: a }, after: { url: a } },
      { action: "webhook.updated", target: id, before: { url: a, retryCount: 9 }, after: { url: b, retryCount: 1 } },
      { action: "webhook.deleted", target: id, before: { ...all, url: b, retryCount: 1 }, after: null },
    ]);
  });
});

describe("deleting an endpoint", () => {
  it("removes it and its secrets, and keeps its deliveries", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const other = await makeHook(hooks);
    await hooks(`/${id}/ping`, POST);
    expect((await hooks(`/${id}`, DELETE)).status).toBe(204);
    expectRefusal(await hooks(`/${id}`), 404, "WEBHOOK_NOT_FOUND");
    expectRefusal(await hooks(`/${id}`, DELETE), 404, "WEBHOOK_NOT_FOUND");
    expect([await hookRow(id), await secretRows(id)]).toEqual([undefined, []]);
    expect(await deliveryRows(id)).toHaveLength(1);
    expect(await secretRows(other.id)).toHaveLength(1);
    expect(JSON.parse((await hooks("")).text)).toHaveLength(1);
    expect((await auditOf(merchantId)).at(-1)).toMatchObject({ action: "webhook.deleted", actorKind: "API_KEY" });
  });
});

describe("a ping", () => {
  it("is an event for its endpoint only, due before all others, and wakes an endpoint that is only probed", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const [{ id }, other] = [await makeHook(hooks, { events: ["invoice.paid"] }), await makeHook(hooks)];
    await changeHook(id, { probeAtMs: Date.now() + 900_000, failuresInRow: 20, failingSinceMs: 1 });
    const { answer, woken } = await sendAndWake(pathOf(merchantId, `/${id}/ping`), { ...POST, key });
    expect(answer.status, answer.text).toBe(201);
    expectDocumented(pingBody, answer.json);
    const [event, ...more] = await eventsOf(merchantId);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: "ping",
      invoiceId: null,
      sequence: null,
      data: JSON.stringify({ webhookId: id }),
    });
    const [delivery, ...others] = await deliveryRows(id);
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({
      merchantId,
      webhookId: id,
      eventId: event?.id,
      eventType: "ping",
      status: "PENDING",
      attempts: 0,
      step: 0,
      nextAttemptMs: 0,
      claim: null,
    });
    expect(answer.json).toEqual({
      id: delivery?.id,
      eventId: event?.id,
      eventType: "ping",
      status: "PENDING",
      createdAt: new Date(event?.createdAtMs ?? 0).toISOString(),
    });
    expect(await deliveryRows(other.id)).toEqual([]);
    expect(woken).toEqual([{ webhookId: id }]);
    expect(await hookRow(id)).toMatchObject({ probeAtMs: null, failuresInRow: 20, failingSinceMs: 1 });
  });

  it("has the same delivery id that the event fan-out would give it", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const eventId = freshId("evt");
    const event = { id: eventId, merchantId, type: "wallet.created", data: "{}", createdAtMs: Date.now() };
    await commit(testDb, [testDb.insert(events).values(event), fanOut(testDb, [eventId])]);
    const owed = await testDb.select({ id: deliveries.id }).from(deliveries).where(eq(deliveries.eventId, eventId));
    expect(owed).toEqual([{ id: deliveryIdOf(eventId, id) }]);
  });

  it("is refused for an endpoint that is off, even if it was switched off during the request", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const beaten = await sendBeaten(pathOf(merchantId, `/${id}/ping`), { ...POST, key }, () =>
      changeHook(id, { isActive: false }),
    );
    expectRefusal(beaten, 422, "WEBHOOK_INACTIVE");
    expectRefusal(await hooks(`/${id}/ping`, POST), 422, "WEBHOOK_INACTIVE");
    expect([await eventsOf(merchantId), await deliveryRows(id)]).toEqual([[], []]);
  });

  it("is sent once under an Idempotency-Key, however often it is requested", async () => {
    const { hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const ask = { ...POST, headers: { "idempotency-key": "ping" } };
    const answers = await Promise.all([1, 2, 3].map(() => hooks(`/${id}/ping`, ask)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await deliveryRows(id)).toHaveLength(1);
    await hooks(`/${id}/ping`, POST);
    expect(await deliveryRows(id)).toHaveLength(2);
  });
});
