// An invoice as a line of an export.
import { formatMicros } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import type { Invoice } from "../invoice-records/invoice.ts";

/** An invoice as read for exports. */
export interface ExportedInvoice
  extends Pick<
    Invoice,
    | "id"
    | "createdAtMs"
    | "status"
    | "externalId"
    | "name"
    | "customerId"
    | "productId"
    | "currency"
    | "amountMicros"
    | "receivedMicros"
    | "confirmedMicros"
    | "isLate"
    | "needsReview"
    | "expiresAtMs"
  > {
  /** Null without a customer, and once the customer is erased. */
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  /** When it got its status. */
  readonly statusAtMs: number | null;
  /** Of the payments credited to it that are on the chain or in a mempool, oldest first. */
  readonly txHashes: readonly string[];
}

/** The columns in their order. New ones are added at the end. */
export const INVOICE_COLUMNS = [
  "id",
  "createdAt",
  "status",
  "statusAt",
  "externalId",
  "name",
  "customerId",
  "customerEmail",
  "customerName",
  "productId",
  "currency",
  "amount",
  "amountReceived",
  "amountConfirmed",
  "txHashes",
  "isLate",
  "needsReview",
  "expiresAt",
] as const;

export function invoiceLineOf(invoice: ExportedInvoice) {
  const { id, status, externalId, name, customerId, customerEmail, customerName, productId, currency } = invoice;
  const { txHashes, isLate, needsReview, statusAtMs } = invoice;
  return {
    id,
    createdAt: isoTime(invoice.createdAtMs),
    status,
    statusAt: statusAtMs === null ? null : isoTime(statusAtMs),
    externalId,
    name,
    customerId,
    customerEmail,
    customerName,
    productId,
    currency,
    amount: formatMicros(invoice.amountMicros),
    amountReceived: formatMicros(invoice.receivedMicros),
    amountConfirmed: formatMicros(invoice.confirmedMicros),
    txHashes: [...txHashes],
    isLate,
    needsReview,
    expiresAt: isoTime(invoice.expiresAtMs),
  };
}
