// Endpoints of a merchant: what they may be, who may change them, and what a change does to what waits for them (webhooks.md "Endpoint",
// decisions 7). Their secrets: webhook-secrets.test.ts.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import {
  newWebhookBody,
  pingBody,
  webhookBody,
  webhookListBody,
} from "../../../src/notifications/webhooks/contract.ts";
import { deliveryIdOf } from "../../../src/notifications/webhooks/webhook.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { deliveries, webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import { fanOut } from "../../../src/platform/events/store.ts";
import { type Ask, expectRefusal, seedKey, seedShop, send, sendWith } from "../../support/access.ts";
import { auditOf, eventsOf, seated } from "../../support/api-keys.ts";
import { sendBeaten as sendBeatenWith } from "../../support/before-write.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedSession } from "../../support/people.ts";
import {
  changeHook,
  deliveryRows,
  ENDPOINT,
  hookedMerchant,
  hookRow,
  hooksOf,
  MUTED,
  makeHook,
  pathOf,
  secretRows,
  sendAndWake,
  shown,
} from "../../support/webhooks.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

const sendBeaten = (path: string, ask: Ask, meanwhile: () => Promise<unknown>) =>
  sendBeatenWith(path, ask, meanwhile, MUTED);
const POST = { method: "POST" } as const;
const PATCH = { method: "PATCH" } as const;
const DELETE = { method: "DELETE" } as const;

describe("an endpoint", () => {
  it("is created with its defaults and its secret, and read without it", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const answer = await hooks("", { ...POST, body: ENDPOINT });
    const { secret, ...made } = shown(answer, 201);
    expectDocumented(newWebhookBody, answer.json);
    expect(made).toEqual({
      ...{
        id: expect.stringMatching(/^whk_[0-9A-Z]{26}$/),
        merchantId,
        ...ENDPOINT,
        description: null,
        isActive: true,
      },
      ...{ retryCount: 9, timeout: 15_000 },
      webhookSecrets: [
        {
          ...{ id: expect.stringMatching(/^whs_[0-9A-Z]{26}$/), webhookId: made.id },
          ...{ secretKeyPreview: `${secret.slice(0, 10)}...${secret.slice(-4)}`, isActive: true, expiresAt: null },
        },
      ],
      ...{ disabledReason: null, disabledAt: null, failuresInRow: 0, failingSince: null },
      ...{ createdAt: expect.any(String), updatedAt: made.createdAt },
    });
    const read = await hooks(`/${made.id}`);
    expectDocumented(webhookBody, read.json);
    expect(read.json).toEqual(made);
  });

  it("keeps what was asked for, its URL as the parser writes it and each subscription once", async () => {
    const { hooks } = await hookedMerchant();
    const wanted = { description: "Shop", isActive: false, retryCount: 0, timeout: 1_000 };
    const events = ["invoice.*", "payment.confirmed", "ping", "invoice.*", "*"];
    const made = await makeHook(hooks, { ...wanted, url: "HTTPS://Hooks.Example.com:443/a/../b?token=t", events });
    expect(made).toMatchObject({
      ...wanted,
      url: "https://hooks.example.com/b?token=t",
      events: ["invoice.*", "payment.confirmed", "ping", "*"],
    });
    expect((await hooks(`/${made.id}`)).json).toMatchObject(wanted);
  });

  it("is listed with the others, oldest first, in a plain array, and nobody else's with them", async () => {
    const [{ hooks }, other] = [await hookedMerchant(), await hookedMerchant()];
    await makeHook(other.hooks);
    expect(JSON.parse((await hooks("")).text)).toEqual([]);
    const { secret: _, ...first } = await makeHook(hooks);
    // The same URL twice is two endpoints.
    const { secret: __, ...second } = await makeHook(hooks);
    const answer = await hooks("");
    expectDocumented(webhookListBody, JSON.parse(answer.text));
    expect(JSON.parse(answer.text)).toEqual([first, second].toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  });

  it.each([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/ping"],
    ["POST", "/rotate-secret"],
  ])("of another merchant is not found, nor is one that never was: %s %s", async (method, rest) => {
    const [{ hooks }, other] = [await hookedMerchant(), await hookedMerchant()];
    const { id } = await makeHook(other.hooks);
    const before = await hookRow(id);
    const body = method === "PATCH" ? { isActive: false } : undefined;
    for (const unknown of [id, freshId("whk"), "whk_", "%27"])
      expectRefusal(await hooks(`/${unknown}${rest}`, { method, body }), 404, "WEBHOOK_NOT_FOUND");
    expect(await hookRow(id)).toEqual(before);
    expect(await deliveryRows(id)).toEqual([]);
  });

  const REFUSED = [
    ["no URL", { url: undefined }, "url"],
    ["a URL that is no text", { url: 7 }, "url"],
    ["no subscription", { events: [] }, "events"],
    ["none at all", { events: undefined }, "events"],
    ["one that is no list", { events: "*" }, "events"],
    ["more than 50", { events: Array.from({ length: 51 }, () => "ping") }, "events"],
    ["an unknown one", { events: ["ping", "invoice.payed"] }, "events.1"],
    ["a domain that is none", { events: ["refund.*"] }, "events.0"],
    ["a star within", { events: ["invoice.pa*"] }, "events.0"],
    ["one in capitals", { events: ["INVOICE.PAID"] }, "events.0"],
    ["one that is no text", { events: [1] }, "events.0"],
    ["a long description", { description: "é".repeat(501) }, "description"],
    ["fewer attempts than none", { retryCount: -1 }, "retryCount"],
    ["more than ten", { retryCount: 10 }, "retryCount"],
    ["half a one", { retryCount: 0.5 }, "retryCount"],
    ["a short time", { timeout: 999 }, "timeout"],
    ["a long time", { timeout: 30_001 }, "timeout"],
    ["a flag that is none", { isActive: "yes" }, "isActive"],
    ["a secret of its own", { secret: "whsec_mine" }, "secret"],
    ["its health", { failuresInRow: 0 }, "failuresInRow"],
  ] as const;

  it.each(REFUSED)("is not made with %s", async (_, changes, path) => {
    const { merchantId, hooks } = await hookedMerchant();
    const { details } = expectRefusal(
      await hooks("", { ...POST, body: { ...ENDPOINT, ...changes } }),
      400,
      "VALIDATION_FAILED",
    );
    expect(details).toEqual([{ path, message: expect.any(String) }]);
    expect(await testDb.$count(webhooks, eq(webhooks.merchantId, merchantId))).toBe(0);
  });

  it.each(REFUSED.filter(([, changes]) => !Object.values(changes).includes(undefined)))(
    "is not changed to %s",
    async (_, changes, path) => {
      const { hooks } = await hookedMerchant();
      const { id } = await makeHook(hooks);
      const before = await hookRow(id);
      const { details } = expectRefusal(
        await hooks(`/${id}`, { ...PATCH, body: { isActive: true, ...changes } }),
        400,
        "VALIDATION_FAILED",
      );
      expect(details).toEqual([{ path, message: expect.any(String) }]);
      expect(await hookRow(id)).toEqual(before);
    },
  );

  it("names the nearest type to one that there is not", async () => {
    const { hooks } = await hookedMerchant();
    const { details } = (await hooks("", { ...POST, body: { ...ENDPOINT, events: ["invoice.payed"] } })).json ?? {};
    expect(details).toEqual([{ path: "events.0", message: "is not an event type; the closest is invoice.paid" }]);
  });

  it.each([
    ["http://hooks.example.com/"],
    ["https://127.0.0.1/"],
    ["https://localhost/"],
    ["https://user:pass@hooks.example.com/"],
    ["https://hooks.example.com:8443/"],
    [`https://hooks.example.com/${"a".repeat(2_048)}`],
    [""],
  ])("has no URL that may not be delivered to, and the refusal does not repeat it: %s", async (url) => {
    const { merchantId, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const refusals = [
      await hooks("", { ...POST, body: { ...ENDPOINT, url } }),
      await hooks(`/${id}`, { ...PATCH, body: { url } }),
    ];
    for (const refusal of refusals) {
      const { message } = expectRefusal(refusal, 400, "WEBHOOK_URL_REFUSED");
      expect(message).toMatch(/^Webhooks cannot be sent to this URL: /);
      for (const given of ["pass@", "8443", "aaaa"]) expect(message).not.toContain(given);
    }
    expect((await hookRow(id))?.url).toBe(ENDPOINT.url);
    expect(await testDb.$count(webhooks, eq(webhooks.merchantId, merchantId))).toBe(1);
  });

  it.each([
    ["development", "on", 201],
    ["development", "", 400],
    ["production", "", 400],
  ])("on loopback is for %s with WEBHOOK_LOOPBACK %s: %i", async (ENVIRONMENT, WEBHOOK_LOOPBACK, status) => {
    const { merchantId, key } = await hookedMerchant();
    const ask = { ...POST, key, body: { ...ENDPOINT, url: "http://127.0.0.1:9999/hook" } };
    expect((await sendWith({ ENVIRONMENT, WEBHOOK_LOOPBACK }, pathOf(merchantId), ask)).status).toBe(status);
  });
});

describe("a merchant", () => {
  it("has at most 25 endpoints, however many are asked for at once", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const answers = await Promise.all(Array.from({ length: 30 }, () => hooks("", { ...POST, body: ENDPOINT })));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(25);
    for (const answer of answers)
      if (answer.status !== 201)
        expect(expectRefusal(answer, 422, "LIMIT_REACHED")).toMatchObject({
          name: "webhookEndpointsPerMerchant",
          limit: 25,
        });
    expect(await testDb.$count(webhooks, eq(webhooks.merchantId, merchantId))).toBe(25);
    expect(JSON.parse((await hooks("")).text)).toHaveLength(25);
    const { id } = JSON.parse(made[0]?.text ?? "");
    expect((await hooks(`/${id}`, DELETE)).status).toBe(204);
    await makeHook(hooks);
    expectRefusal(await hooks("", { ...POST, body: ENDPOINT }), 422, "LIMIT_REACHED");
  });

  it("that is deleted has no active endpoint left, and none is switched on or made behind its back", async () => {
    const owner = await seated("OWNER");
    const key = await seedKey(owner.merchantId);
    const hooks = hooksOf(owner.merchantId, { key });
    const [first, second] = [await makeHook(hooks), await makeHook(hooks, { isActive: false })];
    const remove = () =>
      send(`/api/v1/merchants/merchant/${owner.merchantId}`, {
        ...{ ...DELETE, headers: owner.headers, body: { name: "Test shop" } },
      });
    const switchOn = { ...PATCH, key, body: { isActive: true } };
    const beaten = await sendBeaten(pathOf(owner.merchantId, `/${second.id}`), switchOn, async () =>
      expect((await remove()).status).toBe(204),
    );
    expectRefusal(beaten, 404, "WEBHOOK_NOT_FOUND");
    expect(await hookRow(first.id)).toMatchObject({ isActive: false, disabledReason: null });
    expect(await hookRow(second.id)).toMatchObject({ isActive: false });
  });

  it("that is deleted while an endpoint is made has none more", async () => {
    const owner = await seated("OWNER");
    const key = await seedKey(owner.merchantId);
    const { headers } = owner;
    const answer = await sendBeaten(pathOf(owner.merchantId), { ...POST, key, body: ENDPOINT }, () =>
      send(`/api/v1/merchants/merchant/${owner.merchantId}`, { ...DELETE, headers, body: { name: "Test shop" } }),
    );
    expect(answer.status).toBe(503);
    expect(await testDb.$count(webhooks, eq(webhooks.merchantId, owner.merchantId))).toBe(0);
  });
});

describe("a change", () => {
  it("keeps what it does not name, is answered and read, and moves updatedAt on", async () => {
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

  it("that switches an endpoint on takes it for well, says no longer why it was off, and wakes it", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const failing = { failuresInRow: 40, failingSinceMs: 1_000, probeAtMs: 9_000 };
    await changeHook(id, { ...failing, isActive: false, disabledReason: "GONE", disabledAtMs: 5_000 });
    expect((await hooks(`/${id}`)).json).toMatchObject({
      ...{ isActive: false, disabledReason: "GONE", disabledAt: "1970-01-01T00:00:05.000Z" },
      ...{ failuresInRow: 40, failingSince: "1970-01-01T00:00:01.000Z" },
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

  it("of the URL forgets how the old one failed, but switches nothing on", async () => {
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

  it("of anything else leaves an endpoint's health as it is", async () => {
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

  it("decides anew on what another change left, so that both stand", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const answer = await sendBeaten(
      ...([pathOf(merchantId, `/${id}`), { ...PATCH, key, body: { retryCount: 1 } }] as const),
      () => hooks(`/${id}`, { ...PATCH, body: { timeout: 2_000 } }),
    );
    expect(answer.json).toMatchObject({ retryCount: 1, timeout: 2_000 });
    expect(await hookRow(id)).toMatchObject({ retryCount: 1, timeoutMs: 2_000 });
  });

  it("that switches on what was switched off for failing while it was asked stands", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks, { isActive: false });
    const off = { isActive: false, disabledReason: "FAILING", disabledAtMs: 1 } as const;
    await changeHook(id, { isActive: true });
    const ask = { ...PATCH, key, body: { isActive: true, description: "on" } };
    // The engine moves no clock: that an endpoint is active is a fact of its own.
    const answer = await sendBeaten(pathOf(merchantId, `/${id}`), ask, () => changeHook(id, off));
    expect(answer.json).toMatchObject({ isActive: true, disabledReason: null });
    expect(await hookRow(id)).toMatchObject({ isActive: true, disabledReason: null, description: "on" });
  });

  it("of an endpoint that was deleted meanwhile finds none", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const ask = { ...PATCH, key, body: { retryCount: 1 } };
    const answer = await sendBeaten(pathOf(merchantId, `/${id}`), ask, () => hooks(`/${id}`, DELETE));
    expectRefusal(answer, 404, "WEBHOOK_NOT_FOUND");
    expect(await hookRow(id)).toBeUndefined();
  });

  it("is in the audit log without the query of the URL, a change of that alone too", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks, { url: "https://hooks.example.com/a?token=hush1" });
    await hooks(`/${id}`, { ...PATCH, body: { url: "https://hooks.example.com/a?token=hush2" } });
    await hooks(`/${id}`, { ...PATCH, body: { url: "https://hooks.example.com/b?token=hush3", retryCount: 1 } });
    await hooks(`/${id}`, DELETE);
    const entries = await auditOf(merchantId);
    expect(JSON.stringify(entries)).not.toContain("hush");
    const facts = entries.map(({ action, target, before, after }) => ({
      ...{ action, target, before: JSON.parse(before ?? "null"), after: JSON.parse(after ?? "null") },
    }));
    const [a, b] = ["https://hooks.example.com/a?...", "https://hooks.example.com/b?..."];
    const all = { events: ["*"], description: null, isActive: true, retryCount: 9, timeout: 15_000 };
    expect(facts).toEqual([
      { action: "webhook.created", target: id, before: null, after: { ...all, url: a } },
      { action: "webhook.updated", target: id, before: { url: a }, after: { url: a } },
      { action: "webhook.updated", target: id, before: { url: a, retryCount: 9 }, after: { url: b, retryCount: 1 } },
      { action: "webhook.deleted", target: id, before: { ...all, url: b, retryCount: 1 }, after: null },
    ]);
  });
});

describe("deleting an endpoint", () => {
  it("takes it and its secrets away for good, and leaves what was delivered", async () => {
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
  it("is an event owed to its endpoint alone, before all else, and wakes it where it is only probed", async () => {
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
      ...{ merchantId, webhookId: id, eventId: event?.id, eventType: "ping", status: "PENDING", attempts: 0, step: 0 },
      ...{ nextAttemptMs: 0, claim: null },
    });
    expect(answer.json).toEqual({
      ...{ id: delivery?.id, eventId: event?.id, eventType: "ping", status: "PENDING" },
      createdAt: new Date(event?.createdAtMs ?? 0).toISOString(),
    });
    expect(await deliveryRows(other.id)).toEqual([]);
    expect(woken).toEqual([{ webhookId: id }]);
    expect(await hookRow(id)).toMatchObject({ probeAtMs: null, failuresInRow: 20, failingSinceMs: 1 });
  });

  it("has the delivery id that the fan-out would give it", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const eventId = freshId("evt");
    const event = { id: eventId, merchantId, type: "wallet.created", data: "{}", createdAtMs: Date.now() };
    await batch(testDb, [testDb.insert(events).values(event), fanOut(testDb, [eventId])]);
    const owed = await testDb.select({ id: deliveries.id }).from(deliveries).where(eq(deliveries.eventId, eventId));
    expect(owed).toEqual([{ id: deliveryIdOf(eventId, id) }]);
  });

  it("is refused by an endpoint that is off, one that was switched off meanwhile too", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const beaten = await sendBeaten(pathOf(merchantId, `/${id}/ping`), { ...POST, key }, () =>
      changeHook(id, { isActive: false }),
    );
    expectRefusal(beaten, 422, "WEBHOOK_INACTIVE");
    expectRefusal(await hooks(`/${id}/ping`, POST), 422, "WEBHOOK_INACTIVE");
    expect([await eventsOf(merchantId), await deliveryRows(id)]).toEqual([[], []]);
  });

  it("is one under an Idempotency-Key, however often it is asked for", async () => {
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

describe("of people", () => {
  it.each([
    ["OWNER", 201],
    ["ADMIN", 201],
    ["MEMBER", 403],
    ["VIEWER", 403],
  ] as const)("%s may make an endpoint: %i", async (role, status) => {
    const user = await seated(role);
    const hooks = hooksOf(user.merchantId, user);
    expect((await hooks("", { ...POST, body: ENDPOINT })).status).toBe(status);
    expect((await hooks("")).status).toBe(200);
  });

  it.each([
    ["POST", "", ENDPOINT],
    ["PATCH", "/:id", { isActive: false }],
    ["DELETE", "/:id", undefined],
    ["POST", "/:id/rotate-secret", undefined],
  ])("whoever gave no factor in five minutes changes nothing: %s %s", async (method, rest, body) => {
    const owner = await seated("OWNER");
    const { id } = await makeHook(hooksOf(owner.merchantId, owner));
    const before = [await hookRow(id), await secretRows(id)];
    const headers = await seedSession(owner.userId, { factorAtMs: Date.now() - 301_000 });
    const stale = hooksOf(owner.merchantId, { headers });
    expectRefusal(await stale(rest.replace(":id", id), { method, body }), 403, "STEP_UP_REQUIRED");
    expect([await hookRow(id), await secretRows(id)]).toEqual(before);
    expect((await stale(`/${id}`)).status).toBe(200);
    // A ping shows no secret and sends nothing to a new place.
    expect((await stale(`/${id}/ping`, POST)).status).toBe(201);
  });

  it.each([
    ["POST", "", ENDPOINT],
    ["PATCH", "/:id", { isActive: false }],
    ["DELETE", "/:id", undefined],
    ["POST", "/:id/rotate-secret", undefined],
    ["POST", "/:id/ping", undefined],
  ])("whoever lost the role while they asked changes nothing: %s %s", async (method, rest, body) => {
    const owner = await seated("OWNER");
    const admin = await seated("ADMIN", owner);
    const { id } = await makeHook(hooksOf(owner.merchantId, owner), { events: ["ping"] });
    const before = [await hookRow(id), await secretRows(id), await deliveryRows(id)];
    const path = pathOf(owner.merchantId, rest.replace(":id", id));
    const demote = () =>
      send(`/api/v1/merchants/merchant/${owner.merchantId}/team/members/${admin.memberId}`, {
        ...{ ...PATCH, headers: owner.headers, body: { role: "VIEWER" } },
      });
    const answer = await sendBeaten(path, { method, body, headers: admin.headers }, demote);
    expectRefusal(answer, 403, "PERMISSION_DENIED");
    expect([await hookRow(id), await secretRows(id), await deliveryRows(id)]).toEqual(before);
    expect(await testDb.$count(webhooks, eq(webhooks.merchantId, owner.merchantId))).toBe(1);
  });

  it("each change names who made it", async () => {
    const owner = await seated("OWNER");
    const hooks = hooksOf(owner.merchantId, owner);
    const { id } = await makeHook(hooks);
    await hooks(`/${id}/rotate-secret`, POST);
    const who = (await auditOf(owner.merchantId)).map(({ action, actorKind, actorId }) => [action, actorKind, actorId]);
    expect(who).toEqual([
      ["webhook.created", "USER", owner.userId],
      ["webhook.secret_rotated", "USER", owner.userId],
    ]);
  });
});

it("a public key reaches no endpoint", async () => {
  const { merchantId, publicKey } = await seedShop();
  expectRefusal(await send(pathOf(merchantId), { key: publicKey }), 403, "PUBLIC_KEY_FORBIDDEN");
});
