// Events recorded while an endpoint is switched off are kept for it, and sent once it is switched on again.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, inject, it, vi } from "vitest";
import { switchOffWebhooks } from "../../../src/accounts/merchant-records/store.ts";
import type { EventId, MerchantId, WebhookId } from "../../../src/lib/ids.ts";
import { deliverDependencies } from "../../../src/notifications/deliveries/dependencies.ts";
import { disableEndpoint } from "../../../src/notifications/deliveries/disable-endpoint.ts";
import { leaseBatch } from "../../../src/notifications/deliveries/store.ts";
import { selectWebhookById, updateWebhook } from "../../../src/notifications/webhooks/store.ts";
import { changedColumns, type SettingsUpdate, type Webhook } from "../../../src/notifications/webhooks/webhook.ts";
import { batch, commit } from "../../../src/platform/db/batch.ts";
import { deliveries, webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import { type EventType, typesNamed } from "../../../src/platform/events/event.ts";
import { recordOutbox } from "../../../src/platform/events/store.ts";
import { addEndpoint } from "../../support/endpoints.ts";
import { receiverAt } from "../../support/receiver-control.ts";
import { freshId, freshMerchant, testDb } from "../../support/worker-merchant.ts";

const receiver = receiverAt(inject("receiverOrigin"));
/** Few histories, because each step is several statements on a real database. */
const SEQUENCES = 30;
const TYPES = ["api_key.created", "api_key.deleted", "team.member_joined"] as const;
const FILTERS = [["*"], ["api_key.*"], ["api_key.created", "webhook.endpoint_disabled"]] as const;

type Step =
  | { readonly kind: "event"; readonly type: (typeof TYPES)[number] }
  | { readonly kind: "patch"; readonly change: SettingsUpdate }
  | { readonly kind: "fail" };

const event = fc.record({ kind: fc.constant("event" as const), type: fc.constantFrom(...TYPES) });
const step = fc.oneof(
  { weight: 4, arbitrary: event },
  { weight: 3, arbitrary: fc.boolean().map((isActive): Step => ({ kind: "patch", change: { isActive } })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...FILTERS)
      .map((names): Step => ({ kind: "patch", change: { events: JSON.stringify(names) } })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "fail" }) },
);

describe("the pending deliveries of an endpoint", () => {
  it("include each event that the endpoint subscribed to at the time, once, however often the endpoint was switched off and on", {
    timeout: 120_000,
  }, async () => {
    const { merchantId } = await freshMerchant();
    const counts = { off: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 20 }), async (steps) => {
        const { webhook } = await endpoint(merchantId);
        const expected: EventId[] = [];
        for (const each of steps) {
          const now = await hookOf(webhook.id);
          if (each.kind === "event") {
            const id = await record(merchantId, each.type);
            if (wants(now, each.type)) expected.push(id);
            if (!now.isActive) counts.off++;
          }
          if (each.kind === "patch") await patch(now, each.change);
          if (each.kind === "fail" && (await disable(now))) counts.failed++;
          if (!(await hookOf(webhook.id)).isActive) expect(await claimed(webhook.id)).toBe(0);
        }
        expect(await owedTo(webhook.id)).toEqual(expected);
        await testDb.delete(webhooks).where(eq(webhooks.id, webhook.id));
      }),
      { numRuns: SEQUENCES },
    );
    expect(counts.off).toBeGreaterThan(SEQUENCES);
    expect(counts.failed).toBeGreaterThan(3);
  });

  it("include nothing from before the endpoint was first switched on, and nothing from after its merchant was deleted", async () => {
    const { merchantId } = await freshMerchant();
    const never = await endpoint(merchantId, { isActive: false });
    const orphan = await endpoint(merchantId);
    await record(merchantId, "api_key.created");
    await switchOffWebhooks(testDb, merchantId, Date.now());
    await record(merchantId, "api_key.created");
    expect(await owedTo(never.webhook.id)).toEqual([]);
    expect(await owedTo(orphan.webhook.id)).toHaveLength(1);
  });

  it("leave out the event that reports the endpoint's own switch-off", async () => {
    const { merchantId } = await freshMerchant();
    const [own, other] = [await endpoint(merchantId), await endpoint(merchantId)];
    expect(await disable(await hookOf(own.webhook.id))).toBe(true);
    expect(await disable(await hookOf(other.webhook.id))).toBe(true);
    expect(await owedTo(other.webhook.id)).toHaveLength(1);
    expect(await owedTo(own.webhook.id)).toHaveLength(1);
  });
});

it("events recorded while an endpoint is switched on and off are neither lost nor duplicated, and all are received after the last switch on", async () => {
  const merchant = await freshMerchant();
  const { webhook, key } = await endpoint(merchant.merchantId);
  const path = `/webhooks/${webhook.id}`;
  const recorded: Promise<EventId>[] = [];
  const switched: Promise<unknown>[] = [];
  for (let n = 0; n < 20; n++) {
    recorded.push(record(merchant.merchantId, "api_key.created"));
    switched.push(merchant.patch(path, { isActive: n % 2 === 1 }));
  }
  const ids = await Promise.all(recorded);
  await Promise.all(switched);
  expect((await merchant.patch(path, { isActive: false })).body.isActive).toBe(false);
  ids.push(await record(merchant.merchantId, "api_key.deleted"));
  const received = async () => (await receiver.log(key)).map(({ body }) => JSON.parse(body).id);
  expect(await owedTo(webhook.id)).toEqual(expect.arrayContaining(ids));
  expect(await received()).not.toContain(ids.at(-1));
  expect((await merchant.post(`${path}/rotate-secret`)).status).toBe(200);
  expect((await merchant.patch(path, { isActive: true })).body).toMatchObject({ isActive: true, disabledAt: null });
  await vi.waitFor(async () => expect((await received()).toSorted()).toEqual(ids.toSorted()), 60_000);
});

async function endpoint(merchantId: MerchantId, changes: Partial<Webhook> = {}) {
  const key = crypto.randomUUID();
  const url = receiver.url("ok", key);
  const { webhook, secret } = await addEndpoint(testDb, env.SECRETS_AES_KEY, { merchantId, url, ...changes });
  await receiver.trust(key, secret);
  return { webhook, key };
}

async function hookOf(id: WebhookId): Promise<Webhook> {
  const [row] = await selectWebhookById(testDb, id);
  if (row === undefined) throw new Error("no such endpoint");
  return row;
}

async function record(merchantId: MerchantId, type: EventType): Promise<EventId> {
  const id = freshId("evt");
  const of = { id, merchantId, type, invoiceId: null, sequence: null, data: "{}", createdAtMs: Date.now() };
  const [first, ...others] = recordOutbox(testDb, [of]);
  if (first !== undefined) await commit(testDb, [first, ...others]);
  return id;
}

const wants = ({ events }: Webhook, type: EventType) =>
  (JSON.parse(events) as string[]).some((name) => typesNamed(name).includes(type));

async function patch(read: Webhook, change: SettingsUpdate): Promise<void> {
  const columns = changedColumns(read, change, Date.now());
  if (columns !== undefined) await commit(testDb, [updateWebhook(testDb, read.id, columns)]);
}

/** Switches an endpoint off as five days of failures would; returns whether it was on. */
async function disable(read: Webhook): Promise<boolean> {
  const health = { failuresInRow: 21, failingSinceMs: 1, probeAtMs: null };
  await testDb.update(webhooks).set(health).where(eq(webhooks.id, read.id));
  const deps = { ...deliverDependencies(env, () => {}), db: testDb };
  await disableEndpoint(deps, { ...read, ...health }, { health, disable: "FAILING" });
  return read.isActive;
}

async function claimed(webhookId: WebhookId): Promise<number> {
  const token = freshId("evt").slice(4);
  const [, , rows] = await batch(testDb, leaseBatch(testDb, { webhookId, token, nowMs: Date.now() + 1 }));
  return rows.length;
}

async function owedTo(id: WebhookId) {
  const rows = await testDb
    .select({ eventId: deliveries.eventId })
    .from(deliveries)
    .where(eq(deliveries.webhookId, id))
    .orderBy(sql`rowid`);
  return rows.map(({ eventId }) => eventId);
}
