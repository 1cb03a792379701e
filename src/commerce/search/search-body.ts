// Search results with the fields that a list of results needs. The whole item is read by its id.

import { pairOf } from "../../chains/registry/pair.ts";
import { formatMicros, formatUnits } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import type { Customer } from "../customers/customer.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import type { Payment } from "../payments/payment.ts";
import { CUSTOMER_MATCHES, INVOICE_MATCHES, PAYMENT_MATCHES } from "../search-index/search-term.ts";

/** How well the row matched: the position in the list of ways to match its kind, e.g. `INVOICE_MATCHES`. */
interface Ranked {
  readonly rank: number;
}

type FoundInvoice = Ranked &
  Pick<
    Invoice,
    "id" | "externalId" | "customerId" | "name" | "amountMicros" | "currency" | "status" | "needsReview" | "createdAtMs"
  >;
type FoundCustomer = Ranked & Pick<Customer, "id" | "email" | "name"> & { readonly createdAtMs: number };
type FoundPayment = Ranked &
  Pick<
    Payment,
    "id" | "invoiceId" | "network" | "cryptocurrency" | "txHash" | "amountUnits" | "status" | "receivedAtMs"
  >;

export function foundInvoiceBody(row: FoundInvoice) {
  return {
    id: row.id,
    externalId: row.externalId,
    customerId: row.customerId,
    name: row.name,
    rawAmount: formatMicros(row.amountMicros),
    currency: row.currency,
    status: row.status,
    needsReview: row.needsReview,
    createdAt: isoTime(row.createdAtMs),
    matchedBy: INVOICE_MATCHES[row.rank],
  };
}

export function foundCustomerBody(row: FoundCustomer) {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    createdAt: isoTime(row.createdAtMs),
    matchedBy: CUSTOMER_MATCHES[row.rank],
  };
}

export function foundPaymentBody(row: FoundPayment) {
  return {
    id: row.id,
    invoiceId: row.invoiceId,
    network: row.network,
    currency: row.cryptocurrency,
    amount: formatUnits(row.amountUnits, pairOf(row).asset.decimals),
    status: row.status,
    txHash: row.txHash,
    receivedTxAt: isoTime(row.receivedAtMs),
    matchedBy: PAYMENT_MATCHES[row.rank],
  };
}
