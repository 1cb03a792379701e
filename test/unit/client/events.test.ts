// The client's types of events against the types that events are recorded with. The compiler compares them; running it only shows that it
// compiled.
import { expect, it } from "vitest";
import type { WebhookEvent } from "../../../client/edgetill.ts";
import type { EventData } from "../../../src/notifications/events/event-data.ts";
import { EVENT_TYPES, type EventType } from "../../../src/platform/events/event.ts";

/** As parsed from JSON: not read-only, and undefined members are absent. */
type Wire<T> = T extends string | number | boolean | null
  ? T
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : { -readonly [Key in keyof T]: Wire<Exclude<T[Key], undefined>> };

/** Types whose recorded data differs from the client's type, and types that only one side has. */
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
        // @ts-expect-error An invoice is only in events of invoices.
        return event.data.invoice?.id;
    }
  };
  const head = { id: "evt_1", timestamp: "", apiVersion: "v1", merchantId: "mer_1", sequence: null };
  expect(summaryOf({ ...head, type: "ping", event: "ping", data: { webhookId: "whk_1" } })).toBe("whk_1");
});
