import type { InvoiceStatus } from "../../platform/column-values.ts";

/** Whether an invoice's page no longer changes. Such a page does not poll, and no messages are sent to it. */
export function isPageOver(status: InvoiceStatus): boolean {
  return status === "PAID" || status === "OVERPAID" || status === "CANCELLED";
}
