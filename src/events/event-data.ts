// What each event says: its `data`, by its type. Recorders are held to it, and docs/events.md is written from it.
import type { apiKeyBodyOf } from "../api-keys/api-key-body.ts";
import type { InvoiceBody, MethodBody, PaymentBody } from "../invoices/invoice-body.ts";
import type { ApiKeyId, InvoiceId, MemberId, WalletId, WebhookId } from "../lib/ids.ts";
import type { memberBodyOf } from "../teams/member.ts";
import type { Role } from "../teams/roles.ts";
import type { WalletBody } from "../wallets/wallet-body.ts";
import type { EventType } from "./event.ts";

/** What the event of an invoice tells beside the invoice. */
export interface InvoiceFacts {
  readonly previousStatus?: InvoiceBody["status"] | undefined;
  readonly payment?: PaymentBody | undefined;
  readonly paymentMethod?: MethodBody | undefined;
}

/** Of an invoice, with the facts named. */
type OfInvoice<Facts extends keyof InvoiceFacts = never> = {
  readonly [Fact in Facts]: NonNullable<InvoiceFacts[Fact]>;
} & {
  readonly invoiceId: InvoiceId;
  readonly invoice: InvoiceBody;
  /** Which of the invoice's members were cut, where the event would have been too large. */
  readonly truncated?: readonly string[];
};

type Moved = OfInvoice<"previousStatus">;

/** Of a transfer that no invoice has, with neither. */
type OfPayment = OfInvoice<"payment"> | { readonly payment: PaymentBody };

/** Instead of the hundred-and-first unmatched transfer of a day to one address and of about the same worth. */
interface StraySummary {
  readonly payment: null;
  readonly network: string;
  readonly toAddress: string;
  readonly unmatchedToday: number;
  readonly isTruncated: true;
  /** The range of worth in US dollars that is full; null where it is not known, or has no end. */
  readonly worthFrom: string | null;
  readonly worthBelow: string | null;
}

interface OfWallet {
  readonly walletId: WalletId;
  readonly wallet: WalletBody;
  readonly fingerprint: string | null;
  readonly previousFingerprint: string | null;
}

interface OfMember {
  readonly memberId: MemberId;
  readonly member: MemberBody;
}

type MemberBody = ReturnType<typeof memberBodyOf>;

interface OfApiKey {
  readonly apiKeyId: ApiKeyId;
  readonly apiKey: ReturnType<typeof apiKeyBodyOf>;
}

interface OfPair {
  readonly walletId: WalletId;
  readonly cryptocurrency: string;
  readonly network: string;
}

interface Data {
  readonly "invoice.created": OfInvoice;
  readonly "invoice.updated": OfInvoice;
  readonly "invoice.partially_paid": OfInvoice;
  readonly "invoice.pending_confirmation": Moved;
  readonly "invoice.paid": Moved;
  readonly "invoice.underpaid": Moved;
  readonly "invoice.overpaid": Moved;
  readonly "invoice.expired": Moved;
  readonly "invoice.cancelled": Moved;
  readonly "invoice.payment_late": OfInvoice<"payment">;
  readonly "invoice.reversed": Moved;
  readonly "payment.created": OfInvoice<"paymentMethod">;
  readonly "payment.detected": OfPayment;
  readonly "payment.updated": OfInvoice<"payment"> | OfInvoice<"paymentMethod">;
  readonly "payment.confirmed": OfPayment;
  readonly "payment.paid": Moved;
  readonly "payment.underpaid": Moved;
  readonly "payment.overpaid": Moved;
  readonly "payment.expired": Moved;
  readonly "payment.dropped": OfPayment;
  readonly "payment.reorged": OfPayment;
  readonly "payment.unmatched": { readonly payment: PaymentBody } | StraySummary;
  readonly "payment.matched": OfInvoice<"payment">;
  readonly "wallet.created": OfWallet;
  readonly "wallet.updated": OfWallet;
  readonly "wallet.deleted": OfWallet;
  readonly "wallet.gap_limit_warning": OfPair & { readonly gap: number; readonly nextIndex: number | null };
  readonly "wallet.detection_degraded": {
    readonly network: string;
    readonly degradedSince: string;
    readonly reason: string | null;
  };
  readonly "wallet.address_degraded": {
    readonly network: string;
    readonly address: string;
    readonly degradedSince: string;
    readonly reason: string;
  };
  readonly "wallet.amounts_low": OfPair & { readonly address: string; readonly amount: string };
  readonly "team.member_joined": OfMember;
  readonly "team.member_removed": OfMember & { readonly hasLeft: boolean };
  readonly "team.role_changed": OfMember & { readonly previousRole: Role };
  readonly "team.ownership_transferred": { readonly owner: MemberBody; readonly previousOwner: MemberBody };
  readonly "api_key.created": OfApiKey;
  readonly "api_key.rotated": OfApiKey;
  readonly "api_key.deleted": OfApiKey;
  readonly "webhook.endpoint_disabled": {
    readonly webhookId: WebhookId;
    readonly url: string;
    readonly reason: "GONE" | "FAILING";
    readonly failuresInRow: number;
    readonly failingSince: string | null;
  };
  readonly ping: { readonly webhookId: WebhookId };
}

/** No type is missing. */
export type EventData = { readonly [T in EventType]: Data[T] };
