// The content of deliveries and events, by type: `switch (event.type)` narrows `event.data`. New types may be added, so have a default case.
import type { ApiKey, Invoice, Payment, PaymentMethod, Wallet } from "./api-types.ts";
import type { InvoiceStatus } from "./enums.ts";

interface Event<Type extends string, Data> {
  /** The same on every attempt and in every list: act once for each id. */
  id: string;
  type: Type;
  /** The type again, for older consumers. */
  event: Type;
  /** When it happened; ISO 8601. */
  timestamp: string;
  apiVersion: string;
  merchantId: string;
  /** Increases within an invoice: ignore events older than the last one you handled. Null for an event without an invoice. */
  sequence: number | null;
  data: Data;
}

/** One member of the union for each type, so that `Extract<WebhookEvent, { type: "invoice.paid" }>` selects one member. */
type EventOf<Type extends string, Data> = Type extends string ? Event<Type, Data> : never;

interface OfInvoice {
  invoiceId: string;
  /** As GET returns it, with its newest 20 payments and timeline items. */
  invoice: Invoice;
  /** Members of the invoice that were shortened, because the event would have been too large: read the invoice to get all of them. */
  truncated?: string[];
}
interface Moved extends OfInvoice {
  previousStatus: InvoiceStatus;
}
interface WithPayment extends OfInvoice {
  payment: Payment;
}
interface WithMethod extends OfInvoice {
  paymentMethod: PaymentMethod;
}
/** A transfer that matches no invoice. */
interface UnmatchedTransfer {
  payment: Payment;
}
/** Sent instead of single events after a hundred unmatched transfers in a day to one address in one range of values. */
interface UnmatchedSummary {
  payment: null;
  network: string;
  toAddress: string;
  unmatchedToday: number;
  isTruncated: true;
  /** The range of values in US dollars; null if the value is unknown, or if the range has no end. */
  worthFrom: string | null;
  worthBelow: string | null;
}
interface OfWallet {
  walletId: string;
  wallet: Wallet;
  fingerprint: string | null;
  previousFingerprint: string | null;
}
interface OfPair {
  walletId: string;
  cryptocurrency: string;
  network: string;
}
interface Member {
  id: string;
  userId: string;
  email: string;
  name: string | null;
  role: "OWNER" | "ADMIN" | "MEMBER" | "VIEWER";
  joinedAt: string;
}
interface OfMember {
  memberId: string;
  member: Member;
}

type InvoiceMove = "pending_confirmation" | "paid" | "underpaid" | "overpaid" | "expired" | "cancelled" | "reversed";

/** An event, by type. Amounts and times are in the API's format. */
export type WebhookEvent =
  | EventOf<"invoice.created" | "invoice.updated" | "invoice.partially_paid" | "invoice.marked", OfInvoice>
  | EventOf<`invoice.${InvoiceMove}`, Moved>
  | EventOf<"invoice.payment_late" | "payment.matched", WithPayment>
  | EventOf<"payment.created", WithMethod>
  | EventOf<"payment.updated", WithPayment | WithMethod>
  | EventOf<"payment.paid" | "payment.underpaid" | "payment.overpaid" | "payment.expired", Moved>
  | EventOf<
      "payment.detected" | "payment.confirmed" | "payment.dropped" | "payment.reorged",
      WithPayment | UnmatchedTransfer
    >
  | EventOf<"payment.unmatched", UnmatchedTransfer | UnmatchedSummary>
  | EventOf<"wallet.created" | "wallet.updated" | "wallet.deleted", OfWallet>
  | EventOf<"wallet.gap_limit_warning", OfPair & { gap: number }>
  | EventOf<"wallet.amounts_low", OfPair & { amount: string }>
  | EventOf<"wallet.detection_degraded", { network: string; degradedSince: string; reason: string | null }>
  | EventOf<"wallet.address_degraded", { network: string; address: string; degradedSince: string; reason: string }>
  | EventOf<"team.member_joined", OfMember>
  | EventOf<"team.member_removed", OfMember & { hasLeft: boolean }>
  | EventOf<"team.role_changed", OfMember & { previousRole: Member["role"] }>
  | EventOf<"team.ownership_transferred", { owner: Member; previousOwner: Member }>
  | EventOf<"api_key.created" | "api_key.rotated" | "api_key.deleted", { apiKeyId: string; apiKey: ApiKey }>
  | EventOf<"webhook.endpoint_disabled", { webhookId: string; url: string; reason: "GONE" | "FAILING" }>
  | EventOf<"ping", { webhookId: string }>;
