// Endpoints of the fake, and deliveries that are signed as the service signs them.
import { parseEndpointUrl } from "../../src/notifications/webhooks/endpoint-url.ts";
import { HEALTHY } from "../../src/notifications/webhooks/retry-schedule.ts";
import { secretKeyPreview, webhookSecret } from "../../src/notifications/webhooks/secret.ts";
import { signedHeaders } from "../../src/notifications/webhooks/signature.ts";
import {
  changedColumns,
  type SettingsUpdate,
  type Webhook,
  type WebhookSettings,
} from "../../src/notifications/webhooks/webhook.ts";
import { textOf } from "./events.ts";
import type { Delivered } from "./hand.ts";
import { Refused } from "./refusal.ts";
import type { FakeDelivery, FakeState, FakeWebhook } from "./state.ts";

export function createWebhook(
  state: FakeState,
  { secret: given, ...wanted }: WebhookSettings & Pick<Webhook, "format"> & { readonly secret?: string | undefined },
): FakeWebhook {
  const url = hrefOf(wanted.url);
  const nowMs = state.now();
  const id = state.newId("whk");
  const secret = given ?? webhookSecret(crypto.getRandomValues(new Uint8Array(32)));
  const preview = secretKeyPreview(secret);
  // Not encrypted, because all of the fake's data is in memory anyway.
  const row = { id: state.newId("whs"), webhookId: id, sealed: secret, preview, expiresAtMs: null, createdAtMs: nowMs };
  const webhook: Webhook = {
    ...wanted,
    ...HEALTHY,
    id,
    merchantId: state.merchant.id,
    url,
    disabledReason: null,
    disabledAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    secrets: [row],
  };
  state.webhooks.set(id, { webhook, secret });
  return { webhook, secret };
}

export function webhookOf({ webhooks }: FakeState, id: string): FakeWebhook {
  const known = webhooks.get(id);
  if (known === undefined) throw new Refused({ code: "WEBHOOK_NOT_FOUND" });
  return known;
}

export function updateWebhook(state: FakeState, id: string, wanted: SettingsUpdate): Webhook {
  const { webhook, secret } = webhookOf(state, id);
  const settings = wanted.url === undefined ? wanted : { ...wanted, url: hrefOf(wanted.url) };
  const columns = changedColumns(webhook, settings, state.now());
  if (columns === undefined) return webhook;
  const after = { ...webhook, ...columns, updatedAtMs: Math.max(state.now(), webhook.updatedAtMs + 1) };
  state.webhooks.set(id, { webhook: after, secret });
  return after;
}

/** Also deletes the endpoint's pending deliveries. */
export function deleteWebhook(state: FakeState, id: string): void {
  webhookOf(state, id);
  state.webhooks.delete(id);
  const left = state.deliveries.filter(({ webhookId }) => webhookId !== id);
  state.deliveries.splice(0, state.deliveries.length, ...left);
}

/** As in development, URLs of this machine are allowed too. */
function hrefOf(text: string): string {
  const url = parseEndpointUrl(text, { isLoopbackOpen: true });
  if (!url.ok) throw new Refused({ code: "WEBHOOK_URL_REFUSED", reason: url.error });
  return url.value.href;
}

/** Delivers, in order, what is pending for active endpoints. A delivery not answered with 2xx stays pending. */
export async function deliver(
  state: FakeState,
  receive: (request: Request) => Response | Promise<Response>,
): Promise<readonly Delivered[]> {
  const due = state.deliveries.filter(({ webhookId }) => state.webhooks.get(webhookId)?.webhook.isActive);
  const all: Delivered[] = [];
  for (const delivery of due) {
    const { event, webhookId } = delivery;
    const to = state.webhooks.get(webhookId);
    // The handler may have deleted the endpoint.
    if (to === undefined) continue;
    const { status } = await receive(await signedRequest(delivery, to, state.now()));
    all.push({ eventId: event.id, type: event.type, webhookId, status });
    if (status >= 200 && status < 300) state.deliveries.splice(state.deliveries.indexOf(delivery), 1);
  }
  return all;
}

async function signedRequest(delivery: FakeDelivery, of: FakeWebhook, nowMs: number): Promise<Request> {
  const { event, webhookId, id: deliveryId } = delivery;
  const body = textOf(event);
  const timestampSeconds = Math.floor(nowMs / 1_000);
  const headers = await signedHeaders({
    eventId: event.id,
    deliveryId,
    webhookId,
    body,
    timestampSeconds,
    secrets: [of.secret],
  });
  return new Request(of.webhook.url, { method: "POST", headers, body });
}
