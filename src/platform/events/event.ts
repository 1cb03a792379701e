// The closed list of what can happen, as integrators see it (webhooks.md "Types"). Every recorded event carries one of these names.
import type { EventId, InvoiceId, MerchantId } from "../../lib/ids.ts";

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
  /** 80 % of the amounts of one price are taken on a direct wallet's address (chains.md 4). */
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
