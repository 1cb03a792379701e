// Words and numbers that columns hold, declared beside the tables: rules of every district read them.

export const INVOICE_STATUSES = [
  "AWAITING_PAYMENT",
  "PENDING_CONFIRMATION",
  "PAID",
  "OVERPAID",
  "UNDERPAID",
  "EXPIRED",
  "CANCELLED",
] as const;

export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** Where an invoice was made: by a merchant's server or member, by a browser with a public key, or by the form of a product's page. */
export const INVOICE_ORIGINS = ["API", "PUBLIC_KEY", "PRODUCT_PAGE"] as const;

export type InvoiceOrigin = (typeof INVOICE_ORIGINS)[number];

/**
 * 1: control proved by a signature, which nobody can give yet. 2: enough money was confirmed there, and at least a tenth of what the merchant
 * with the most has confirmed there: anybody can pay a little to an address. 3: everybody else.
 */
export type Rank = 1 | 2 | 3;
