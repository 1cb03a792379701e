// Compares the client's event types with the types of the recorded events. The compiler does this; running the test shows only that it compiled.
import { expect, it } from "vitest";
import type { WebhookEvent } from "../../../client/edgetill.ts";
import type { EventData } from "../../../src/notifications/events/event-data.ts";
import { EVENT_TYPES, type EventType } from "../../../src/platform/events/event.ts";

/** `T` as parsed from JSON: not read-only, and without undefined members. */
type Wire<T> = T extends string | number | boolean | null
  ? T
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : { -readonly [Key in keyof T]: Wire<Exclude<T[Key], undefined>> };

/** Event types whose recorded data differs from the client's type. */
type Wrong = {
  [Type in EventType]: [Wire<EventData[Type]>] extends [Extract<WebhookEvent, { type: Type }>["data"]] ? never : Type;
}[EventType];
type Strange = Exclude<WebhookEvent["type"], EventType> | Exclude<EventType, WebhookEvent["type"]>;

it("every event type has a client type that equals the recorded data", () => {
  const wrong: Record<Wrong | Strange, never> = {};
  expect(wrong).toEqual({});
  expect(EVENT_TYPES.length).toBeGreaterThan(0);
});

it("the type of an event narrows its data", () => {
  const summaryOf = (event: WebhookEvent): string => {
    switch (event.type) {
      case "invoice.paid":
        return `${event.data.invoice.externalId} was ${event.data.previousStatus}`;
      case "payment.created":
        return event.data.paymentMethod.network;
      case "ping":
        return event.data.webhookId;
      default:
        // @ts-expect-error Only events about invoices have an invoice.
        return event.data.invoice?.id;
    }
  };
  const head = { id: "evt_1", timestamp: "", apiVersion: "v1", merchantId: "mer_1", sequence: null };
  expect(summaryOf({ ...head, type: "ping", event: "ping", data: { webhookId: "whk_1" } })).toBe("whk_1");
});
