// Endpoints of the fake, and deliveries that are signed as the service signs them.
import type * as Api from "../api-types.ts";
import { change } from "./catalogue.ts";
import type { Delivered } from "./hand.ts";
import { filled, Refused } from "./refusal.ts";
import { type FakeDelivery, type FakeState, type FakeWebhook, timeOf } from "./state.ts";
import { ADDRESS_ECHO, HOST_NAME, RESERVED_ENDS, UNSEEN, URL_REASONS } from "./tables.ts";

export function createWebhook(state: FakeState, body: Api.CreateWebhookBody): Api.NewWebhook {
  const { description = null, isActive = true, retryCount = 9, timeout = 15_000 } = body;
  const url = endpointUrl(body.url);
  const id = state.newId("whk");
  const at = timeOf(state);
  const secret = `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
  const secretKeyPreview = `${secret.slice(0, 10)}...${secret.slice(-4)}`;
  const shown: Api.Webhook = {
    id,
    merchantId: state.merchantId,
    url,
    events: [...new Set(body.events)],
    description,
    isActive,
    retryCount,
    timeout,
    disabledReason: null,
    disabledAt: null,
    failuresInRow: 0,
    failingSince: null,
    webhookSecrets: [{ id: state.newId("whs"), webhookId: id, secretKeyPreview, isActive: true, expiresAt: null }],
    createdAt: at,
    updatedAt: at,
  };
  state.webhooks.set(id, { body: shown, secret });
  return { ...shown, secret };
}

export function webhookOf(state: FakeState, id: string): FakeWebhook {
  const webhook = state.webhooks.get(id);
  if (webhook === undefined) throw new Refused("WEBHOOK_NOT_FOUND");
  return webhook;
}

export function updateWebhook(state: FakeState, id: string, body: Api.UpdateWebhookBody): Api.Webhook {
  const webhook = webhookOf(state, id);
  const { url, events, ...others } = body;
  const { isActive = webhook.body.isActive } = body;
  const isSwitched = isActive !== webhook.body.isActive;
  return change(state, webhook.body, {
    ...others,
    ...(url === undefined ? {} : { url: endpointUrl(url) }),
    ...(events === undefined ? {} : { events: [...new Set(events)] }),
    ...(isSwitched ? { disabledAt: isActive ? null : timeOf(state) } : {}),
  });
}

/** What is owed to it goes with it. */
export function deleteWebhook(state: FakeState, id: string): void {
  webhookOf(state, id);
  state.webhooks.delete(id);
  const left = state.deliveries.filter(({ webhook }) => webhook.body.id !== id);
  state.deliveries.splice(0, state.deliveries.length, ...left);
}

/** https to a public host, or anything on this machine. */
function endpointUrl(text: string): string {
  const reason = urlProblem(text);
  if (reason !== undefined) throw new Refused("WEBHOOK_URL_REFUSED", { reason });
  return new URL(text).href;
}

function urlProblem(text: string): string | undefined {
  if (text.length > 2_048) return URL_REASONS.tooLong;
  if (UNSEEN.test(text)) return URL_REASONS.unseen;
  const isLoopback = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:[/?]|$)/i.test(text);
  if (!isLoopback && !/^https:\/\/[^/?#]/i.test(text)) return URL_REASONS.scheme;
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return URL_REASONS.user;
  if (text.includes("#")) return URL_REASONS.fragment;
  if (!URL.canParse(text)) return URL_REASONS.notUrl;
  return isLoopback ? undefined : hostProblem(new URL(text));
}

function hostProblem({ port, hostname }: URL): string | undefined {
  if (port !== "") return URL_REASONS.port;
  if (/(?:^|\.)example$/.test(hostname)) return URL_REASONS.example;
  if (hostname.startsWith("[") || /^[\d.]+$/.test(hostname)) return URL_REASONS.address;
  if (hostname.endsWith(".")) return URL_REASONS.dot;
  const end = hostname.slice(hostname.lastIndexOf(".") + 1);
  if (RESERVED_ENDS.includes(end)) return filled(URL_REASONS.reserved, { end });
  if (!hostname.includes(".")) return URL_REASONS.label;
  if (hostname.length > 253 || !HOST_NAME.test(hostname)) return URL_REASONS.name;
  return ADDRESS_ECHO.test(hostname) ? URL_REASONS.echo : undefined;
}

/** Hands over, in their order, what endpoints that are switched on are owed. What is not answered with 2xx stays owed. */
export async function deliver(
  state: FakeState,
  receive: (request: Request) => Response | Promise<Response>,
): Promise<readonly Delivered[]> {
  const due = state.deliveries.filter(({ webhook }) => webhook.body.isActive);
  const all: Delivered[] = [];
  for (const delivery of due) {
    const { status } = await receive(await signedRequest(delivery, state.now()));
    const { event, webhook } = delivery;
    all.push({ eventId: event.id, type: event.type, webhookId: webhook.body.id, status });
    if (status >= 200 && status < 300) state.deliveries.splice(state.deliveries.indexOf(delivery), 1);
  }
  return all;
}

async function signedRequest({ webhook, event, id }: FakeDelivery, nowMs: number): Promise<Request> {
  const body = JSON.stringify(event);
  const seconds = Math.floor(nowMs / 1_000);
  const { url, id: webhookId } = webhook.body;
  const key = Uint8Array.from(atob(webhook.secret.slice(6)), (character) => character.charCodeAt(0));
  const standard = await hmac(key, `${event.id}.${seconds}.${body}`);
  const plain = await hmac(Uint8Array.from(new TextEncoder().encode(webhook.secret)), `${seconds}.${body}`);
  const hex = Array.from(plain, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const headers = {
    "content-type": "application/json",
    "user-agent": "Edgetill-Webhooks/1",
    "webhook-id": event.id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${btoa(String.fromCharCode(...standard))}`,
    "x-signature": `t=${seconds},v1=${hex}`,
    "x-webhook-id": webhookId,
    "x-event-id": event.id,
    "x-delivery-id": id,
  };
  return new Request(url, { method: "POST", headers, body });
}

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const signer = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", signer, new TextEncoder().encode(text)));
}
