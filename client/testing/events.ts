// Events of the fake: recorded with each change of an invoice, listed, polled, and owed to the endpoints that subscribe to them.
import type { WebhookEvent } from "../events.ts";
import { pageOf } from "./lists.ts";
import { Refused } from "./refusal.ts";
import type { FakeInvoice, FakeState, FakeWebhook } from "./state.ts";
import { timeOf } from "./state.ts";
import { typesNamed } from "./validate.ts";

/** Of one change: the type, and what the event has besides its invoice. */
export interface News {
  readonly type: WebhookEvent["type"];
  readonly facts?: object;
}

/** An event is what it was when it happened, whatever becomes of its invoice. */
export function record(state: FakeState, invoice: FakeInvoice | undefined, all: readonly News[]): void {
  const about = invoice === undefined ? {} : { invoiceId: invoice.body.id, invoice: invoice.body };
  if (invoice !== undefined) invoice.sequence += all.length;
  const first = (invoice?.sequence ?? 0) - all.length + 1;
  for (const [place, { type, facts = {} }] of all.entries()) {
    const sequence = invoice === undefined ? null : first + place;
    const event = eventOf(state, { type, sequence, data: { ...about, ...facts } });
    for (const webhook of state.webhooks.values())
      if (webhook.body.events.some((name) => typesNamed(name).includes(type))) owe(state, webhook, event);
  }
}

/** To one endpoint alone, whatever it subscribes to. */
export function ping(state: FakeState, webhook: FakeWebhook): object {
  if (!webhook.body.isActive) throw new Refused("WEBHOOK_INACTIVE");
  const event = eventOf(state, { type: "ping", sequence: null, data: { webhookId: webhook.body.id } });
  const id = owe(state, webhook, event);
  return { id, eventId: event.id, eventType: "ping", status: "PENDING", createdAt: event.timestamp };
}

function owe(state: FakeState, webhook: FakeWebhook, event: WebhookEvent): string {
  const id = state.newId("dlv");
  state.deliveries.push({ webhook, event, id });
  return id;
}

function eventOf(state: FakeState, of: Pick<WebhookEvent, "type" | "sequence"> & { readonly data: object }) {
  const { type, sequence, data } = of;
  const head = { id: state.newId("evt"), type, event: type, timestamp: timeOf(state), apiVersion: "v1" };
  // As text and back: a copy of its own.
  const event: WebhookEvent = JSON.parse(JSON.stringify({ ...head, merchantId: state.merchantId, sequence, data }));
  state.events.push(event);
  return event;
}

export function eventNamed(state: FakeState, id: string): WebhookEvent {
  const event = state.events.find((each) => each.id === id);
  if (event === undefined) throw new Refused("EVENT_NOT_FOUND");
  return event;
}

export function listEvents(state: FakeState, query: Readonly<Record<string, string>>): object {
  const { type = "*", invoiceId, after, limit = "20" } = query;
  const types = typesNamed(type);
  const wanted = state.events.filter(
    (event) => types.includes(event.type) && (invoiceId === undefined || invoiceOf(event) === invoiceId),
  );
  if (after === undefined) {
    const rows = wanted.map((event) => ({ id: event.id, at: event.timestamp, shown: event }));
    // Events have no page numbers.
    return pageOf(rows, { limit, cursor: query.cursor ?? "" });
  }
  if (after !== "0") eventNamed(state, after);
  const later = wanted.filter(({ id }) => after === "0" || id > after);
  const data = later.slice(0, Number(limit));
  const end = later.length > Number(limit) ? data.at(-1) : state.events.at(-1);
  return { data, nextCursor: end?.id ?? after };
}

function invoiceOf({ data }: WebhookEvent): string | undefined {
  return "invoiceId" in data ? data.invoiceId : undefined;
}
