// Maps our events to Greenfield's webhooks. A status event is reported as the invoice's state after the event, so that the webhook agrees with what
// the receiver reads next.
import type { EventType } from "../../platform/events/event.ts";
import type { GreenfieldStatus } from "./state.ts";

/** For each type to which an endpoint in this format can subscribe, our events that are sent as that type. */
const SOURCES = {
  InvoiceCreated: ["invoice.created"],
  InvoiceReceivedPayment: ["payment.detected", "payment.matched"],
  InvoicePaymentSettled: ["payment.confirmed"],
  InvoiceProcessing: ["invoice.pending_confirmation"],
  InvoiceExpired: ["invoice.expired", "invoice.underpaid"],
  InvoiceSettled: ["invoice.paid", "invoice.overpaid", "invoice.marked"],
  InvoiceInvalid: ["invoice.cancelled", "invoice.reversed"],
} as const satisfies Readonly<Record<string, readonly EventType[]>>;

type WebhookType = keyof typeof SOURCES;

export const WEBHOOK_TYPES: readonly string[] = Object.keys(SOURCES);

/** The events that are sent as one of these types. Unknown types are ignored. */
export function sourcesOf(types: readonly string[]): readonly EventType[] {
  return Object.entries(SOURCES).flatMap(([type, sources]): readonly EventType[] =>
    types.includes(type) ? sources : [],
  );
}

/** The types under which these events are sent, in the order of `SOURCES`. */
export function typesOf(events: readonly string[]): readonly string[] {
  return Object.entries(SOURCES).flatMap(([type, sources]) =>
    sources.some((source) => events.includes(source)) ? [type] : [],
  );
}

/**
 * The initial subscription of an endpoint that a user creates by hand. It contains only InvoiceSettled, because some receivers treat every signed
 * webhook as a payment and never read its type.
 */
export const BY_HAND: readonly EventType[] = SOURCES.InvoiceSettled;

const OF_STATUS: Readonly<Record<GreenfieldStatus, WebhookType>> = {
  // An invoice returns to New only after money was reversed; the receiver must then stop the order.
  New: "InvoiceInvalid",
  Processing: "InvoiceProcessing",
  Settled: "InvoiceSettled",
  Expired: "InvoiceExpired",
  Invalid: "InvoiceInvalid",
};

/** Types of events that do not concern the invoice's status. */
const OF_NO_STATUS = ["InvoiceCreated", "InvoiceReceivedPayment", "InvoicePaymentSettled"] as const;

/** The type of an event, given the state of its invoice after the event; undefined for an event without a Greenfield type. */
export function webhookTypeOf(event: string, after: GreenfieldStatus): WebhookType | undefined {
  const named = OF_NO_STATUS.find((type) => sourcesOf([type]).some((source) => source === event));
  if (named !== undefined) return named;
  return sourcesOf(WEBHOOK_TYPES).some((source) => source === event) ? OF_STATUS[after] : undefined;
}
