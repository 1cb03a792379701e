// A merchant's endpoints: their allowed settings, and who may change them (webhooks.md "Endpoint", decisions 7). Changes to an endpoint are tested
// in webhook-changes.test.ts, secrets in webhook-secrets.test.ts.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { newWebhookBody, webhookBody, webhookListBody } from "../../../src/notifications/webhooks/contract.ts";
import { webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import { expectRefusal, seedKey, seedShop, send, sendWith } from "../../support/access.ts";
import { auditOf, seated } from "../../support/api-keys.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedSession } from "../../support/people.ts";
import {
  deliveryRows,
  ENDPOINT,
  hookedMerchant,
  hookRow,
  hooksOf,
  makeHook,
  pathOf,
  secretRows,
  shown,
} from "../../support/webhooks.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import { DELETE, PATCH, POST, sendBeaten } from "./webhooks-harness.ts";

describe("an endpoint", () => {
  it("is created with defaults and its secret, and read without the secret", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const answer = await hooks("", { ...POST, body: ENDPOINT });
    const { secret, ...made } = shown(answer, 201);
    expectDocumented(newWebhookBody, answer.json);
    expect(made).toEqual({
      id: expect.stringMatching(/^whk_[0-9A-Z]{26}$/),
      merchantId,
      ...ENDPOINT,
      description: null,
      format: "STANDARD",
      isActive: true,
      retryCount: 9,
      timeout: 15_000,
      webhookSecrets: [
        {
          id: expect.stringMatching(/^whs_[0-9A-Z]{26}$/),
          webhookId: made.id,
          secretKeyPreview: `${secret.slice(0, 10)}...${secret.slice(-4)}`,
          isActive: true,
          expiresAt: null,
        },
      ],
      disabledReason: null,
      disabledAt: null,
      failuresInRow: 0,
      failingSince: null,
      createdAt: expect.any(String),
      updatedAt: made.createdAt,
    });
    const read = await hooks(`/${made.id}`);
    expectDocumented(webhookBody, read.json);
    expect(read.json).toEqual(made);
  });

  it("stores what was asked for, with its URL normalised and each subscription once", async () => {
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

  it("is listed with the merchant's other endpoints only, oldest first, in a plain array", async () => {
    const [{ hooks }, other] = [await hookedMerchant(), await hookedMerchant()];
    await makeHook(other.hooks);
    expect(JSON.parse((await hooks("")).text)).toEqual([]);
    const { secret: _, ...first } = await makeHook(hooks);
    // The same URL registered twice gives two endpoints.
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
  ])("of another merchant is not found, nor is an unknown one: %s %s", async (method, rest) => {
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
    ["a missing URL", { url: undefined }, "url"],
    ["a URL that is not a string", { url: 7 }, "url"],
    ["an empty list of subscriptions", { events: [] }, "events"],
    ["a missing list of subscriptions", { events: undefined }, "events"],
    ["subscriptions that are not a list", { events: "*" }, "events"],
    ["more than 50 subscriptions", { events: Array.from({ length: 51 }, () => "ping") }, "events"],
    ["an unknown event type", { events: ["ping", "invoice.payed"] }, "events.1"],
    ["an unknown event domain", { events: ["refund.*"] }, "events.0"],
    ["a star inside an event type", { events: ["invoice.pa*"] }, "events.0"],
    ["an event type in capitals", { events: ["INVOICE.PAID"] }, "events.0"],
    ["a subscription that is not a string", { events: [1] }, "events.0"],
    ["a description that is too long", { description: "é".repeat(501) }, "description"],
    ["a negative retryCount", { retryCount: -1 }, "retryCount"],
    ["a retryCount above ten", { retryCount: 11 }, "retryCount"],
    ["a fractional retryCount", { retryCount: 0.5 }, "retryCount"],
    ["a timeout that is too short", { timeout: 999 }, "timeout"],
    ["a timeout that is too long", { timeout: 30_001 }, "timeout"],
    ["an isActive that is not a boolean", { isActive: "yes" }, "isActive"],
    ["a secret chosen by the caller", { secret: "whsec_mine" }, "secret"],
    ["a health field", { failuresInRow: 0 }, "failuresInRow"],
  ] as const;

  it.each(REFUSED)("is not created with %s", async (_, changes, path) => {
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
    "cannot be changed to have %s",
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

  it("is refused with the closest event type if it names an unknown one", async () => {
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
  ])("cannot have a URL that is not allowed, and the refusal does not show it: %s", async (url) => {
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
  ])(
    "on loopback in %s with WEBHOOK_LOOPBACK=%s gets status %i when it is created",
    async (ENVIRONMENT, WEBHOOK_LOOPBACK, status) => {
      const { merchantId, key } = await hookedMerchant();
      const ask = { ...POST, key, body: { ...ENDPOINT, url: "http://127.0.0.1:9999/hook" } };
      expect((await sendWith({ ENVIRONMENT, WEBHOOK_LOOPBACK }, pathOf(merchantId), ask)).status).toBe(status);
    },
  );
});

describe("a merchant", () => {
  it("can have at most 25 endpoints, however many are created at once", async () => {
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

  it("that is deleted has no active endpoint left, and none can be switched on at the same time", async () => {
    const owner = await seated("OWNER");
    const key = await seedKey(owner.merchantId);
    const hooks = hooksOf(owner.merchantId, { key });
    const [first, second] = [await makeHook(hooks), await makeHook(hooks, { isActive: false })];
    const remove = () =>
      send(`/api/v1/merchants/merchant/${owner.merchantId}`, {
        ...DELETE,
        headers: owner.headers,
        body: { name: "Test shop" },
      });
    const switchOn = { ...PATCH, key, body: { isActive: true } };
    const beaten = await sendBeaten(pathOf(owner.merchantId, `/${second.id}`), switchOn, async () =>
      expect((await remove()).status).toBe(204),
    );
    expectRefusal(beaten, 404, "WEBHOOK_NOT_FOUND");
    expect(await hookRow(first.id)).toMatchObject({ isActive: false, disabledReason: null });
    expect(await hookRow(second.id)).toMatchObject({ isActive: false });
  });

  it("that is deleted while an endpoint is created gets no endpoint", async () => {
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

describe("a member of the team", () => {
  it.each([
    ["OWNER", 201],
    ["ADMIN", 201],
    ["MEMBER", 403],
    ["VIEWER", 403],
  ] as const)("with the role %s is answered with %i when creating an endpoint", async (role, status) => {
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
  ])("without a factor in the last five minutes can change nothing: %s %s", async (method, rest, body) => {
    const owner = await seated("OWNER");
    const { id } = await makeHook(hooksOf(owner.merchantId, owner));
    const before = [await hookRow(id), await secretRows(id)];
    const headers = await seedSession(owner.userId, { factorAtMs: Date.now() - 301_000 });
    const stale = hooksOf(owner.merchantId, { headers });
    expectRefusal(await stale(rest.replace(":id", id), { method, body }), 403, "STEP_UP_REQUIRED");
    expect([await hookRow(id), await secretRows(id)]).toEqual(before);
    expect((await stale(`/${id}`)).status).toBe(200);
    // A ping needs no recent factor: it shows no secret and sends nothing to a new address.
    expect((await stale(`/${id}/ping`, POST)).status).toBe(201);
  });

  it.each([
    ["POST", "", ENDPOINT],
    ["PATCH", "/:id", { isActive: false }],
    ["DELETE", "/:id", undefined],
    ["POST", "/:id/rotate-secret", undefined],
    ["POST", "/:id/ping", undefined],
  ])("who loses the role during the request can change nothing: %s %s", async (method, rest, body) => {
    const owner = await seated("OWNER");
    const admin = await seated("ADMIN", owner);
    const { id } = await makeHook(hooksOf(owner.merchantId, owner), { events: ["ping"] });
    const before = [await hookRow(id), await secretRows(id), await deliveryRows(id)];
    const path = pathOf(owner.merchantId, rest.replace(":id", id));
    const demote = () =>
      send(`/api/v1/merchants/merchant/${owner.merchantId}/team/members/${admin.memberId}`, {
        ...PATCH,
        headers: owner.headers,
        body: { role: "VIEWER" },
      });
    const answer = await sendBeaten(path, { method, body, headers: admin.headers }, demote);
    expectRefusal(answer, 403, "PERMISSION_DENIED");
    expect([await hookRow(id), await secretRows(id), await deliveryRows(id)]).toEqual(before);
    expect(await testDb.$count(webhooks, eq(webhooks.merchantId, owner.merchantId))).toBe(1);
  });

  it("is recorded as the actor of each change", async () => {
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

it("a public key has no access to endpoints", async () => {
  const { merchantId, publicKey } = await seedShop();
  expectRefusal(await send(pathOf(merchantId), { key: publicKey }), 403, "PUBLIC_KEY_FORBIDDEN");
});
