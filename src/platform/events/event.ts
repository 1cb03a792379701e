// The closed list of event types, and the text of an event as integrators read it.
import { utf8ToBytes } from "../../lib/bytes.ts";
import type { EventId, InvoiceId, MerchantId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";

export const EVENT_TYPES = [
  "invoice.created",
  "invoice.updated",
  "invoice.partially_paid",
  "invoice.pending_confirmation",
  "invoice.paid",
  "invoice.underpaid",
  "invoice.overpaid",
  "invoice.expired",
  "invoice.cancelled",
  "invoice.payment_late",
  "invoice.reversed",
  /** A user marked the invoice as settled; its status still reflects the money received. */
  "invoice.marked",
  /** A payment method was activated. */
  "payment.created",
  "payment.detected",
  "payment.updated",
  "payment.confirmed",
  /** The next four are recorded together with the invoice's event of the same name. */
  "payment.paid",
  "payment.underpaid",
  "payment.overpaid",
  "payment.expired",
  "payment.dropped",
  "payment.reorged",
  "payment.unmatched",
  "payment.matched",
  "wallet.created",
  "wallet.updated",
  "wallet.deleted",
  "wallet.gap_limit_warning",
  "wallet.detection_degraded",
  "wallet.address_degraded",
  /** 80 % of the amounts for one price are in use at a direct wallet's address. */
  "wallet.amounts_low",
  "team.member_joined",
  "team.member_removed",
  "team.role_changed",
  "team.ownership_transferred",
  "api_key.created",
  "api_key.rotated",
  "api_key.deleted",
  "webhook.endpoint_disabled",
  "ping",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The event types of a subscription: a name is one type, `invoice.*` all types of a domain, `*` all types. */
export function typesNamed(subscription: string): readonly EventType[] {
  return EVENT_TYPES.filter((type) => ["*", type, type.replace(/\..*/, ".*")].includes(subscription));
}

/**
 * Whether the event may change an open checkout page. Not `invoice.created`, because no page is open yet, and not the activation of a payment
 * method, because the payer who activates it gets the result anyway.
 */
export function isNewsForPayer({ type, invoiceId }: Pick<OutboxEvent, "type" | "invoiceId">): boolean {
  return invoiceId !== null && type !== "invoice.created" && type !== "payment.created";
}

/** Events without an invoice that are sent at once to the team members who are watching: those that need attention, and those that change access. */
const TOLD: readonly EventType[] = [
  "payment.unmatched",
  "webhook.endpoint_disabled",
  "team.member_removed",
  "team.role_changed",
];

/** Whether an event without an invoice is sent to the merchant's team at once. The team sees all others of these events within half a minute. */
export function isNewsForTeam({ type, invoiceId }: Pick<OutboxEvent, "type" | "invoiceId">): boolean {
  return invoiceId === null && TOLD.includes(type);
}

/**
 * An event to be recorded. `data` is the JSON text of an object. `sequence` increases within an invoice, by one except after a restore; it and
 * `invoiceId` are null for events that belong to no invoice.
 */
export interface OutboxEvent {
  readonly id: EventId;
  readonly merchantId: MerchantId;
  readonly type: EventType;
  readonly invoiceId: InvoiceId | null;
  readonly sequence: number | null;
  readonly data: string;
  /** The length of the part at the start of `data` that the batch's other events share. It ends before the comma of a member or the last brace. */
  readonly headLength?: number;
  readonly createdAtMs: number;
}

const API_VERSION = "v1";

/** An event as read from its row. */
export interface EventRow extends Omit<OutboxEvent, "type" | "invoiceId" | "headLength"> {
  readonly type: string;
}

/**
 * The JSON text of an event. API responses and deliveries in our own format use the same text, so that they are equal byte by byte. `data` is
 * inserted as stored, so the text never changes.
 */
export function eventText({ id, type, merchantId, sequence, data, createdAtMs }: EventRow): string {
  const name = JSON.stringify(type);
  const timestamp = isoTime(createdAtMs);
  return `{"id":"${id}","type":${name},"event":${name},"timestamp":"${timestamp}","apiVersion":"${API_VERSION}","merchantId":"${merchantId}","sequence":${sequence},"data":${data}}`;
}

/** The longest event in bytes of UTF-8, and how much of it `data` may use. */
export const MAX_EVENT_BYTES = 20_000;
export const MAX_DATA_BYTES = MAX_EVENT_BYTES - 350;

/** Throws if `data` is too long: that is a bug, because the code that records an event must shorten long values. */
export function assertEventSize({ id, type, data }: Pick<EventRow, "id" | "type" | "data">): void {
  if (!isWithin(data, MAX_DATA_BYTES)) throw new Error(`the data of ${type} ${id} has ${data.length} characters`);
}

/** Whether a string has at most `maxBytes` bytes of UTF-8; encodes it only if its length does not decide that. */
export function isWithin(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || utf8ToBytes(text).length <= maxBytes;
}
