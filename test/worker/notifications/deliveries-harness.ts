// Shared by the tests of deliveries: an endpoint at a real receiver, and a worker that delivers to it.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, inject, vi } from "vitest";
import type { MerchantId, WebhookId } from "../../../src/lib/ids.ts";
import type { DeliverDependencies } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import { deliverDependencies } from "../../../src/notifications/deliveries/dependencies.ts";
import type { Webhook } from "../../../src/notifications/webhooks/webhook.ts";
import { openWakingDb } from "../../../src/platform/db/client.ts";
import { deliveries, deliveryAttempts, webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import { addEndpoint } from "../../support/endpoints.ts";
import { receiverAt } from "../../support/receiver-control.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

export const receiver = receiverAt(inject("receiverOrigin"));
export const background: Promise<unknown>[] = [];
export const wakingDb = openWakingDb(env.DB, env, (work) => void background.push(work));
export const SOON_MS = 60_000;

/** The timeout of endpoints that answer: the longest allowed, because the machine may be busy. */
export const TIMEOUT_MS = 30_000;

interface Shop {
  readonly merchantId: MerchantId;
  readonly id: WebhookId;
  readonly key: string;
  readonly secret: string;
}

/** An endpoint of a new merchant, or of `merchantId`, at a receiver with this behaviour. */
export async function endpoint(behaviour: string, changes: Partial<Webhook> = {}): Promise<Shop> {
  const merchantId = changes.merchantId ?? (await freshMerchant()).merchantId;
  const key = crypto.randomUUID();
  const url = receiver.url(behaviour, key);
  const of = { timeoutMs: TIMEOUT_MS, merchantId, url, ...changes };
  const { webhook, secret } = await addEndpoint(testDb, env.SECRETS_AES_KEY, of);
  await receiver.trust(key, secret);
  return { merchantId, id: webhook.id, key, secret };
}

/** A worker whose clock is `laterMs` ahead. It only records its reports, and the endpoints that it wakes with the delay in seconds. */
export function worker(changes: Partial<DeliverDependencies> & { readonly laterMs?: number } = {}) {
  const { laterMs = 0, ...more } = changes;
  const wakes: number[] = [];
  const reports: string[] = [];
  const deps: DeliverDependencies = {
    ...deliverDependencies(env, (work) => void background.push(work)),
    db: testDb,
    nowMs: () => Date.now() + laterMs,
    random: () => 0.5,
    wake: async (_, seconds) => void wakes.push(seconds),
    report: (alert, facts) => void reports.push(JSON.stringify({ alert, ...facts })),
    ...more,
  };
  return { deps, wakes, reports };
}

export const rowsOf = (id: WebhookId) =>
  testDb.select().from(deliveries).where(eq(deliveries.webhookId, id)).orderBy(deliveries.createdAtMs, deliveries.id);

export async function hookOf(id: WebhookId) {
  const [row] = await testDb.select().from(webhooks).where(eq(webhooks.id, id));
  if (row === undefined) throw new Error("no such endpoint");
  return row;
}

export const attemptsOf = (id: WebhookId) =>
  testDb
    .select()
    .from(deliveryAttempts)
    .innerJoin(deliveries, eq(deliveries.id, deliveryAttempts.deliveryId))
    .where(eq(deliveries.webhookId, id))
    .orderBy(deliveryAttempts.number)
    .then((rows) => rows.map((row) => row.delivery_attempts));

/** After each test, restores what the test replaced. */
export function useRealClock(): void {
  afterEach(() => {
    vi.restoreAllMocks();
  });
}
