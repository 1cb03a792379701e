import { Badge, Group } from "@mantine/core";
import type { Invoice } from "../api/operations.ts";

export type InvoiceStatus = Invoice["status"];

/** Invoice statuses in words, each with its colour. */
export const INVOICE_STATES: Readonly<Record<InvoiceStatus, { readonly name: string; readonly color: string }>> = {
  AWAITING_PAYMENT: { name: "Awaiting payment", color: "indigo" },
  PENDING_CONFIRMATION: { name: "Confirming", color: "blue" },
  PAID: { name: "Paid", color: "green" },
  OVERPAID: { name: "Overpaid", color: "teal" },
  UNDERPAID: { name: "Underpaid", color: "orange" },
  EXPIRED: { name: "Expired", color: "gray" },
  CANCELLED: { name: "Cancelled", color: "gray" },
};

type Shown = Pick<Invoice, "status" | "needsReview" | "isLate"> & Partial<Pick<Invoice, "amountReceived">>;

export function isInvoiceStatus(value: unknown): value is InvoiceStatus {
  return typeof value === "string" && Object.hasOwn(INVOICE_STATES, value);
}

export function InvoiceState({ invoice }: { readonly invoice: Shown }) {
  const { status, amountReceived = "0" } = invoice;
  const { name, color } = INVOICE_STATES[status];
  return (
    <Group gap={6}>
      <Badge color={color}>{name}</Badge>
      {status === "AWAITING_PAYMENT" && Number(amountReceived) > 0 && <Badge color="yellow">Partly paid</Badge>}
      {invoice.needsReview && <Badge color="orange">Needs review</Badge>}
      {invoice.isLate && <Badge color="yellow">Late</Badge>}
    </Group>
  );
}
