// A line of the exported file of invoices.
import type { Invoice } from "../api/operations.ts";
import type { Line } from "../shell/list-export.ts";

export const INVOICE_LINE: Line<Invoice> = {
  columns: [
    "id",
    "name",
    "order_number",
    "status",
    "needs_review",
    "amount",
    "currency",
    "amount_received",
    "customer_email",
    "customer_name",
    "product",
    "created_at",
    "expires_at",
    "link",
  ],
  fieldsOf: (invoice) => [
    invoice.id,
    invoice.name,
    invoice.externalId ?? "",
    invoice.status,
    String(invoice.needsReview),
    invoice.rawAmount,
    invoice.currency,
    invoice.amountReceived,
    invoice.customer?.email ?? "",
    invoice.customer?.name ?? "",
    invoice.product?.name ?? "",
    invoice.createdAt,
    invoice.expiresAt,
    invoice.checkoutUrl,
  ],
};
