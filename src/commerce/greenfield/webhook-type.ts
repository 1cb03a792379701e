// Maps our events to Greenfield's webhooks. A status event is reported as the state that the invoice has after it, so that the webhook agrees with what the
// receiver then reads.
import type { EventType } from "../../platform/events/event.ts";
import type { GreenfieldStatus } from "./state.ts";

/** The events that become each type: what an endpoint in this format can subscribe to. */
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

/** The events that become one of the types; an unknown name adds nothing. */
export function sourcesOf(types: readonly string[]): readonly EventType[] {
  return Object.entries(SOURCES).flatMap(([type, sources]): readonly EventType[] =>
    types.includes(type) ? sources : [],
  );
}

/** The types that the events become, in our order. */
export function typesOf(events: readonly string[]): readonly string[] {
  return Object.entries(SOURCES).flatMap(([type, sources]) =>
    sources.some((source) => events.includes(source)) ? [type] : [],
  );
}

/** The first subscription of an endpoint that a user creates by hand: some receivers treat every signed webhook as money, and never read its type. */
export const BY_HAND: readonly EventType[] = SOURCES.InvoiceSettled;

const OF_STATUS: Readonly<Record<GreenfieldStatus, WebhookType>> = {
  // An invoice only returns to it when money was undone, and then the receiver must stop.
  New: "InvoiceInvalid",
  Processing: "InvoiceProcessing",
  Settled: "InvoiceSettled",
  Expired: "InvoiceExpired",
  Invalid: "InvoiceInvalid",
};

/** Types of events that do not concern the invoice's status. */
const OF_NO_STATUS = ["InvoiceCreated", "InvoiceReceivedPayment", "InvoicePaymentSettled"] as const;

/** The type of an event, by the state of its invoice after it; undefined for one without a Greenfield type. */
export function webhookTypeOf(event: string, after: GreenfieldStatus): WebhookType | undefined {
  const named = OF_NO_STATUS.find((type) => sourcesOf([type]).some((source) => source === event));
  if (named !== undefined) return named;
  return sourcesOf(WEBHOOK_TYPES).some((source) => source === event) ? OF_STATUS[after] : undefined;
}
