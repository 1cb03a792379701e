// Events of the fake: recorded with each change, listed, polled, and delivered to the endpoints that subscribe to them.
import type { InvoiceFile } from "../../src/commerce/invoice-records/invoice.ts";
import type { ChangeEvent } from "../../src/commerce/invoices/change-invoice.ts";
import { invoiceEventData } from "../../src/commerce/invoices/event-invoice.ts";
import { invoiceBodyOf, methodBodyOf } from "../../src/commerce/invoices/invoice-body.ts";
import { paymentBodyOf } from "../../src/commerce/payments/payment-body.ts";
import type { DeliveryId, EventId } from "../../src/lib/ids.ts";
import { parseJson } from "../../src/lib/typed-json.ts";
import { deliveryIdOf, type Webhook } from "../../src/notifications/webhooks/webhook.ts";
import { eventText, type OutboxEvent, typesNamed } from "../../src/platform/events/event.ts";
import { listEvents as listText } from "../../src/platform/events/list-events.ts";
import { rowsOfPage } from "./pages.ts";
import { allowed, Refused } from "./refusal.ts";
import type { Query } from "./requests.ts";
import { bodyContext, type FakeState } from "./state.ts";

/** Records the events of one change; `after` is the invoice after it. */
export function recordChange(state: FakeState, after: InvoiceFile, events: readonly ChangeEvent[]): void {
  const { invoice, payments, cursors } = after;
  const context = bodyContext(state);
  const facts = events.map(({ type: _, method, paymentId, ...others }) => {
    const payment = payments.find(({ id }) => id === paymentId);
    return {
      ...others,
      ...(method === undefined ? {} : { paymentMethod: methodBodyOf(invoice, method, context) }),
      ...(payment === undefined ? {} : { payment: paymentBodyOf(payment, cursors) }),
    };
  });
  const data = invoiceEventData({ invoice: invoiceBodyOf(after, context) }, facts);
  for (const [place, { type }] of events.entries()) {
    const sequence = invoice.eventSequence - events.length + 1 + place;
    record(state, { type, invoiceId: invoice.id, sequence, data: data[place]?.data ?? "" });
  }
}

type News = Pick<OutboxEvent, "type" | "invoiceId" | "sequence" | "data">;

/** Records an event of the merchant, to be delivered to every endpoint that subscribes to it. */
export function record(state: FakeState, news: News): void {
  const event = eventOf(state, news);
  for (const { webhook } of state.webhooks.values())
    if (parseJson(webhook.events).some((name) => typesNamed(name).includes(event.type))) owe(state, webhook, event);
}

/** Records a ping for one endpoint only, even if it does not subscribe to pings. */
export function ping(state: FakeState, webhook: Webhook): { readonly id: DeliveryId; readonly eventId: EventId } {
  const data = JSON.stringify({ webhookId: webhook.id });
  const event = eventOf(state, { type: "ping", invoiceId: null, sequence: null, data });
  return { id: owe(state, webhook, event), eventId: event.id };
}

function eventOf(state: FakeState, news: News): OutboxEvent {
  const event = { ...news, id: state.newId("evt"), merchantId: state.merchant.id, createdAtMs: state.now() };
  state.events.push(event);
  return event;
}

function owe(state: FakeState, { id: webhookId }: Webhook, event: OutboxEvent): DeliveryId {
  const id = deliveryIdOf(event.id, webhookId);
  state.deliveries.push({ webhookId, event, id });
  return id;
}

export function eventNamed(state: FakeState, id: string): OutboxEvent {
  const event = state.events.find((each) => each.id === id);
  if (event === undefined) throw new Refused({ code: "EVENT_NOT_FOUND" });
  return event;
}

/** The JSON text of an event. */
export function textOf(event: OutboxEvent): string {
  return eventText(event);
}

/** The JSON text of a page, or of the events after a given one. */
export function listEvents(state: FakeState, query: Query<"listEvents">): string {
  const { type: types, invoiceId, after } = query;
  const wanted = state.events.filter(
    (event) =>
      (types === undefined || types.includes(event.type)) && (invoiceId === undefined || event.invoiceId === invoiceId),
  );
  const rows = after === undefined ? rowsOfPage(wanted, query) : wanted.filter(({ id }) => after === "0" || id > after);
  const isKnown = Number(state.events.some(({ id }) => id === after));
  return allowed(listText({ rows, place: { isKnown, newest: state.events.at(-1)?.id ?? null } }, query));
}
