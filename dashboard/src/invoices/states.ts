import type { Invoice } from "../api/operations.ts";

export type InvoiceStatus = Invoice["status"];

/** The states of an invoice in words, and the colour of each. */
export const INVOICE_STATES: Readonly<Record<InvoiceStatus, { readonly name: string; readonly color: string }>> = {
  AWAITING_PAYMENT: { name: "Awaiting payment", color: "indigo" },
  PENDING_CONFIRMATION: { name: "Confirming", color: "blue" },
  PAID: { name: "Paid", color: "green" },
  OVERPAID: { name: "Overpaid", color: "teal" },
  UNDERPAID: { name: "Underpaid", color: "orange" },
  EXPIRED: { name: "Expired", color: "gray" },
  CANCELLED: { name: "Cancelled", color: "gray" },
};

export function isInvoiceStatus(value: unknown): value is InvoiceStatus {
  return typeof value === "string" && Object.hasOwn(INVOICE_STATES, value);
}

/** Whether to offer cancelling: the invoice awaits payment and has received nothing. */
export function isCancellable({ status, amountReceived }: Invoice): boolean {
  return status === "AWAITING_PAYMENT" && !/[1-9]/.test(amountReceived);
}
