// An invoice and its relations, as the business rules use them. Stores pass rows on unchanged; the tables have these columns, and `invoices` also the
// columns of the search index.

import type { CustomerId, InvoiceId, MerchantId, ProductId, TimelineItemId, WalletId } from "../../lib/ids.ts";
import type { JsonOf } from "../../lib/typed-json.ts";
import type { InvoiceOrigin, InvoiceStatus } from "../../platform/column-values.ts";
import type { NetworkCursor } from "../cursors/cursor.ts";
import type { Customer } from "../customers/customer.ts";
import type { Payment } from "../payments/payment.ts";
import type { Product } from "../products/product.ts";
import type { StoredQuote } from "../quotes/quotes.ts";
import type { StoredResolution } from "./resolution.ts";

export interface Invoice {
  readonly id: InvoiceId;
  readonly merchantId: MerchantId;
  readonly customerId: CustomerId | null;
  readonly productId: ProductId | null;
  readonly externalId: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly redirectUrl: string | null;
  /** JSON object of strings. */
  readonly metadata: JsonOf<Record<string, string>> | null;
  readonly amountMicros: bigint;
  readonly currency: string;
  readonly status: InvoiceStatus;
  readonly receivedMicros: bigint;
  readonly confirmedMicros: bigint;
  readonly isLate: boolean;
  readonly needsReview: boolean;
  /** JSON of a `Resolution`. */
  readonly resolution: JsonOf<StoredResolution> | null;
  /** JSON array of warning codes. */
  readonly warnings: JsonOf<readonly string[]>;
  readonly underpaidToleranceMicros: bigint;
  readonly overpaidToleranceMicros: bigint;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  readonly rateLockSeconds: number;
  readonly monitorSeconds: number;
  readonly origin: InvoiceOrigin;
  readonly eventSequence: number;
  readonly timelinePosition: number;
  readonly expiresAtMs: number;
  /** The end of the grace period, in which late money counts at the locked price; null if the merchant set none. */
  readonly lateGraceUntilMs: number | null;
  readonly monitorUntilMs: number;
  readonly cancelledAtMs: number | null;
  readonly closedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Whether anyone could have created an invoice of this origin. Such invoices have their own limits, separate from those of the merchant's server. */
export function isPublicOrigin(origin: InvoiceOrigin): boolean {
  return origin !== "API";
}

export interface TimelineItem {
  readonly id: TimelineItemId;
  readonly invoiceId: InvoiceId;
  readonly position: number;
  readonly paymentStatus: InvoiceStatus;
  readonly timeMs: number;
}

export interface PaymentMethod {
  readonly invoiceId: InvoiceId;
  readonly cryptocurrency: string;
  readonly network: string;
  readonly merchantId: MerchantId;
  readonly walletId: WalletId;
  readonly walletType: "DIRECT_WALLET" | "XPUB_WALLET";
  readonly status: "ACTIVE" | "UNAVAILABLE";
  readonly reason: string | null;
  readonly address: string | null;
  readonly addressIndex: number | null;
  readonly amountUnits: bigint | null;
  readonly rate: string | null;
  readonly rateAtMs: number | null;
  /** JSON array of source names. */
  readonly rateSources: string | null;
  readonly quotedAtMs: number | null;
  /** The fiat value of `amountUnits`: the invoice's amount, or what was still due at the time of the quote. Null if `rate` is null. */
  readonly quoteForMicros: bigint | null;
  /** When the quote ends. Null if `rate` is null. */
  readonly lockedUntilMs: number | null;
  /** JSON of the kept quotes, including those for the rest after a partial payment, oldest first (quotes.ts). */
  readonly quotes: JsonOf<readonly StoredQuote[]>;
  readonly requiredConfirmations: number;
  readonly mac: string | null;
  readonly macKeyId: string | null;
  readonly activatedAtMs: number | null;
  /** The amount reserved for what is left after a partial payment to a shared address; otherwise null. */
  readonly remainderUnits: bigint | null;
  readonly isFromPublicKey: boolean;
}

/** An invoice with everything that its response shows. */
export interface InvoiceFile {
  readonly invoice: Invoice;
  readonly customer: Customer | undefined;
  /** The product in its current state, even if deleted; undefined if the invoice has no product. */
  readonly product: Product | undefined;
  readonly methods: readonly PaymentMethod[];
  readonly payments: readonly Payment[];
  readonly timeline: readonly TimelineItem[];
  /** How far the networks of its methods and payments have been read; a network that was never watched has no entry. */
  readonly cursors: readonly NetworkCursor[];
}

/** An invoice and its relations in one row, as stores read it. */
export type InvoiceRow = Invoice &
  Omit<InvoiceFile, "invoice" | "customer" | "product"> & {
    readonly customer: Customer | null;
    readonly product: Product | null;
  };

export function fileOf(row: InvoiceRow): InvoiceFile {
  const { customer, product, timeline, methods, payments, cursors, ...invoice } = row;
  return {
    invoice,
    customer: customer ?? undefined,
    product: product ?? undefined,
    timeline,
    methods,
    payments,
    cursors,
  };
}

/** A new invoice has no payments, and no network to wait for. */
export function newFile(
  of: Pick<InvoiceFile, "invoice" | "customer" | "product" | "methods">,
  item: TimelineItem,
): InvoiceFile {
  return { ...of, payments: [], timeline: [item], cursors: [] };
}

/** When a new invoice's grace period and its monitoring end; the grace period never ends later than the monitoring. */
export function lateTimes(
  expiresAtMs: number,
  { lateGraceSeconds, monitorSeconds }: { readonly lateGraceSeconds: number; readonly monitorSeconds: number },
): Pick<Invoice, "lateGraceUntilMs" | "monitorUntilMs"> {
  const graceSeconds = Math.min(lateGraceSeconds, monitorSeconds);
  return {
    lateGraceUntilMs: graceSeconds === 0 ? null : expiresAtMs + graceSeconds * 1_000,
    monitorUntilMs: expiresAtMs + monitorSeconds * 1_000,
  };
}

/**
 * When a quote made now ends (decisions 4): after `rateLockSeconds`, but no later than the expiry or, once the invoice has expired, the end of the
 * monitoring.
 */
export function lockEndMs(
  invoice: Pick<Invoice, "expiresAtMs" | "monitorUntilMs" | "rateLockSeconds">,
  nowMs: number,
): number {
  const untilMs = nowMs <= invoice.expiresAtMs ? invoice.expiresAtMs : invoice.monitorUntilMs;
  return Math.min(untilMs, nowMs + invoice.rateLockSeconds * 1_000);
}

/**
 * Whether an active method needs a new quote: its lock is over, and all or the rest of the invoice can still be paid. That is the case while the
 * invoice awaits payment before its expiry, and for an UNDERPAID invoice that accepts late payments, until the end of the monitoring.
 */
export function isQuoteOver(invoice: Invoice, method: PaymentMethod, nowMs: number): boolean {
  const awaits = invoice.status === "AWAITING_PAYMENT" && nowMs <= invoice.expiresAtMs;
  const takesMore =
    invoice.status === "UNDERPAID" && invoice.latePaymentPolicy === "ACCEPT" && nowMs <= invoice.monitorUntilMs;
  if (method.status !== "ACTIVE" || method.lockedUntilMs === null) return false;
  return (awaits || takesMore) && nowMs > method.lockedUntilMs;
}
