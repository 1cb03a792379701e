// Endpoints created through the API, for tests on workerd.
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import type { MerchantId, WebhookId, WebhookSecretId } from "../../src/lib/ids.ts";
import { deliveries, webhookSecrets, webhooks } from "../../src/platform/db/schema/webhooks.ts";
import { type Answer, type Ask, seedKey, seedMerchant, sendWith } from "./access.ts";
import { standIns } from "./stand-ins.ts";
import { testDb } from "./worker-merchant.ts";

export const ENDPOINT = { url: "https://hooks.example.com/edgetill", events: ["*"] } as const;

/** An endpoint in the form in which responses show it. */
export interface ShownWebhook {
  readonly id: WebhookId;
  readonly secret: string;
  readonly updatedAt: string;
  readonly webhookSecrets: readonly {
    readonly id: WebhookSecretId;
    readonly secretKeyPreview: string;
    readonly isActive: boolean;
    readonly expiresAt: string | null;
  }[];
  readonly [field: string]: unknown;
}

export type SendHooks = (rest: string, ask?: Ask) => Promise<Answer>;

export interface HookedMerchant {
  readonly merchantId: MerchantId;
  readonly key: string;
  /** Sends to `/webhooks` plus `rest`, with a key that has every permission. */
  readonly hooks: SendHooks;
}

/** A merchant whose server manages its endpoints. */
export async function hookedMerchant(): Promise<HookedMerchant> {
  const merchantId = await seedMerchant();
  const key = await seedKey(merchantId);
  return { merchantId, key, hooks: hooksOf(merchantId, { key }) };
}

export function hooksOf(merchantId: MerchantId, by: Ask): SendHooks {
  return (rest, ask = {}) =>
    sendWith(MUTED, pathOf(merchantId, rest), { ...by, ...ask, headers: { ...by.headers, ...ask.headers } });
}

export function pathOf(merchantId: MerchantId, rest = ""): string {
  return `/api/v1/merchants/merchant/${merchantId}/webhooks${rest}`;
}

export async function makeHook(hooks: SendHooks, changes: object = {}): Promise<ShownWebhook> {
  return shown(await hooks("", { method: "POST", body: { ...ENDPOINT, ...changes } }), 201);
}

export function shown(answer: Answer, status: number): ShownWebhook {
  expect(answer.status, answer.text).toBe(status);
  return JSON.parse(answer.text);
}

/** A queue that only records which endpoints its messages name, so that nothing is delivered in the background. */
function notingQueue(woken: unknown[]): Partial<Env> {
  const sendBatch = async (messages: Iterable<{ readonly body: unknown }>) => {
    for (const { body } of messages) woken.push(body);
    return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
  };
  return standIns({ WEBHOOK_QUEUE: { sendBatch } });
}

export const MUTED = notingQueue([]);

/** Sends a request; returns its answer and the messages it queued to wake endpoints. */
export async function sendAndWake(
  path: string,
  ask: Ask,
): Promise<{ readonly answer: Answer; readonly woken: unknown[] }> {
  const woken: unknown[] = [];
  return { answer: await sendWith(notingQueue(woken), path, ask), woken };
}

export async function hookRow(id: WebhookId) {
  const [row] = await testDb.select().from(webhooks).where(eq(webhooks.id, id));
  return row;
}

export const secretRows = (id: WebhookId) =>
  testDb.select().from(webhookSecrets).where(eq(webhookSecrets.webhookId, id)).orderBy(webhookSecrets.createdAtMs);
export const deliveryRows = (id: WebhookId) => testDb.select().from(deliveries).where(eq(deliveries.webhookId, id));
export const changeHook = (id: WebhookId, columns: Partial<typeof webhooks.$inferInsert>) =>
  testDb.update(webhooks).set(columns).where(eq(webhooks.id, id));
