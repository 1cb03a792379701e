// The client's types of events against what recorders are held to. The compiler compares; the run only shows that it was asked.
import { expect, it } from "vitest";
import type { WebhookEvent } from "../../../client/edgetill.ts";
import type { EventData } from "../../../src/notifications/events/event-data.ts";
import { EVENT_TYPES, type EventType } from "../../../src/platform/events/event.ts";

/** As it comes out of JSON: without read-only marks, and what is undefined is absent. */
type Wire<T> = T extends string | number | boolean | null
  ? T
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : { -readonly [Key in keyof T]: Wire<Exclude<T[Key], undefined>> };

/** Types whose recorded data is not what the client says of it, and types that only one side has. */
type Wrong = {
  [Type in EventType]: [Wire<EventData[Type]>] extends [Extract<WebhookEvent, { type: Type }>["data"]] ? never : Type;
}[EventType];
type Strange = Exclude<WebhookEvent["type"], EventType> | Exclude<EventType, WebhookEvent["type"]>;

it("every type of event is typed, and its data is what it is recorded with", () => {
  const wrong: Record<Wrong | Strange, never> = {};
  expect(wrong).toEqual({});
  expect(EVENT_TYPES.length).toBeGreaterThan(0);
});

it("the type of an event says what its data is", () => {
  const told = (event: WebhookEvent): string => {
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
  expect(told({ ...head, type: "ping", event: "ping", data: { webhookId: "whk_1" } })).toBe("whk_1");
});
