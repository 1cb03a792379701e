// An invoice as a line of an export.
import { isTestNetwork } from "../../chains/registry/networks.ts";
import { formatMicros } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import type { Invoice } from "../invoice-records/invoice.ts";

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
  /** Null without a customer, and after the customer was erased. */
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  /** When the invoice got its current status. */
  readonly statusAtMs: number | null;
  /** When it was paid in full; null unless it is PAID or OVERPAID. */
  readonly paidAtMs: number | null;
  /** The credited payments that are on the chain or in a mempool, oldest first. */
  readonly payments: readonly InvoicePayment[];
}

export interface InvoicePayment {
  readonly txHash: string;
  readonly cryptocurrency: string;
  readonly network: string;
}

/** The columns, in order. New columns are added at the end. */
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
  "paidAt",
  "cryptocurrencies",
  "networks",
  "isTest",
] as const;

export function invoiceLineOf(invoice: ExportedInvoice) {
  const { id, status, externalId, name, customerId, customerEmail, customerName, productId, currency } = invoice;
  const { isLate, needsReview, statusAtMs, paidAtMs, payments } = invoice;
  const networks = distinct(payments.map(({ network }) => network));
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
    txHashes: payments.map(({ txHash }) => txHash),
    isLate,
    needsReview,
    expiresAt: isoTime(invoice.expiresAtMs),
    paidAt: paidAtMs === null ? null : isoTime(paidAtMs),
    cryptocurrencies: distinct(payments.map(({ cryptocurrency }) => cryptocurrency)),
    networks,
    isTest: networks.length > 0 && networks.every(isTestNetwork),
  };
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
