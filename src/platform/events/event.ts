// The closed list of what can happen, as integrators see it. Every recorded event carries one of these names.
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
  /** A payment method was activated. */
  "payment.created",
  "payment.detected",
  "payment.updated",
  "payment.confirmed",
  /** These four come with the invoice's event of that name. */
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
  /** 80 % of the amounts of one price are taken on a direct wallet's address. */
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

/** The types that a subscription names: one by its name, a domain by `invoice.*`, all by `*`. */
export function typesNamed(subscription: string): readonly EventType[] {
  return EVENT_TYPES.filter((type) => ["*", type, type.replace(/\..*/, ".*")].includes(subscription));
}

/**
 * Whether it may change an open checkout page. The page of an invoice that is just made is not open yet; and who activates a method sees
 * the result anyway.
 */
export function isNewsForPayer({ type, invoiceId }: Pick<OutboxEvent, "type" | "invoiceId">): boolean {
  return invoiceId !== null && type !== "invoice.created" && type !== "payment.created";
}

/** An event as the outbox holds it; `data` is its JSON. `sequence` grows by one within an invoice; both are null for other subjects. */
export interface OutboxEvent {
  readonly id: EventId;
  readonly merchantId: MerchantId;
  readonly type: EventType;
  readonly invoiceId: InvoiceId | null;
  readonly sequence: number | null;
  readonly data: string;
  readonly createdAtMs: number;
}

export const API_VERSION = "v1";

/** An event as a row gives it back. */
export interface EventRow extends Omit<OutboxEvent, "type" | "invoiceId"> {
  readonly type: string;
}

/**
 * What an integrator reads of it, delivered or asked for: one text, so that the two can be compared byte by byte.
 * `data` goes in as it was stored, so the text never changes.
 */
export function eventText({ id, type, merchantId, sequence, data, createdAtMs }: EventRow): string {
  const name = JSON.stringify(type);
  const timestamp = isoTime(createdAtMs);
  return `{"id":"${id}","type":${name},"event":${name},"timestamp":"${timestamp}","apiVersion":"${API_VERSION}","merchantId":"${merchantId}","sequence":${sequence},"data":${data}}`;
}

/** An event's bound in bytes of UTF-8, and what is left of it for `data`. */
export const MAX_EVENT_BYTES = 20_000;
export const MAX_DATA_BYTES = MAX_EVENT_BYTES - 350;

/** Throws, for it is a bug: the code that records an event cuts what can be long. */
export function assertEventSize({ id, type, data }: Pick<EventRow, "id" | "type" | "data">): void {
  if (!isWithin(data, MAX_DATA_BYTES)) throw new Error(`the data of ${type} ${id} has ${data.length} characters`);
}

/** Whether a text has at most so many bytes of UTF-8; counted only where its length does not tell. */
export function isWithin(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || utf8ToBytes(text).length <= maxBytes;
}
