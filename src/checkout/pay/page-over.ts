import type { InvoiceStatus } from "../../platform/column-values.ts";

/** Whether the page of an invoice no longer changes: it does not poll, and no message is sent to it. */
export function isPageOver(status: InvoiceStatus): boolean {
  return status === "PAID" || status === "OVERPAID" || status === "CANCELLED";
}
