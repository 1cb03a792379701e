// Values that columns hold. Declared here, next to the tables, because rules of every district use them.

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

/** How an invoice was created: by a merchant's server or member, by a browser with a public key, or with the form of a product's page. */
export const INVOICE_ORIGINS = ["API", "PUBLIC_KEY", "PRODUCT_PAGE"] as const;

export type InvoiceOrigin = (typeof INVOICE_ORIGINS)[number];

/**
 * A merchant's rank at an address that several merchants registered. 1: kept for a signature that proves control of it; nothing gives it. 2: enough money
 * was confirmed there, and at least a tenth of the highest amount of any merchant there, because anyone can pay a little to an address. 3: the rest.
 */
export type Rank = 1 | 2 | 3;
