// Which of Greenfield's webhooks an event of ours is. An event of a status is told by the state that the invoice has after it, so that what a
// receiver is told and what it reads are the same.
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

/** The events that become one of the types; a name that is none adds nothing. */
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

/** What an endpoint begins with that a person makes by hand: some receivers take every signed webhook for money, and never read its type. */
export const BY_HAND: readonly EventType[] = SOURCES.InvoiceSettled;

const OF_STATUS: Readonly<Record<GreenfieldStatus, WebhookType>> = {
  // Only what was undone leads back to it, and then the receiver must not go on.
  New: "InvoiceInvalid",
  Processing: "InvoiceProcessing",
  Settled: "InvoiceSettled",
  Expired: "InvoiceExpired",
  Invalid: "InvoiceInvalid",
};

/** Types of events that are about no status of the invoice. */
const OF_NO_STATUS = ["InvoiceCreated", "InvoiceReceivedPayment", "InvoicePaymentSettled"] as const;

/** The type of an event, by the state of its invoice after it; undefined for one that Greenfield has no word for. */
export function webhookTypeOf(event: string, after: GreenfieldStatus): WebhookType | undefined {
  const named = OF_NO_STATUS.find((type) => sourcesOf([type]).some((source) => source === event));
  if (named !== undefined) return named;
  return sourcesOf(WEBHOOK_TYPES).some((source) => source === event) ? OF_STATUS[after] : undefined;
}
