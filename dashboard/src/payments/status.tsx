import { Badge, Group } from "@mantine/core";
import type { Payment } from "../api/operations.ts";

type PaymentStatus = Payment["status"];

/** Payment statuses in words, each with its colour. */
export const PAYMENT_STATES: Readonly<Record<PaymentStatus, { readonly name: string; readonly color: string }>> = {
  UNMATCHED: { name: "Needs review", color: "orange" },
  IGNORED: { name: "Ignored", color: "gray" },
  DETECTED: { name: "Confirming", color: "blue" },
  CONFIRMED: { name: "Confirmed", color: "green" },
  DROPPED: { name: "Dropped", color: "red" },
  REORGED: { name: "Removed from chain", color: "red" },
};

/** The filter of a list of payments. */
export type ListedStatus = PaymentStatus | "ALL";

export function isListedStatus(value: unknown): value is ListedStatus {
  return value === "ALL" || (typeof value === "string" && Object.hasOwn(PAYMENT_STATES, value));
}

export function PaymentState({ payment }: { readonly payment: Pick<Payment, "status" | "isLate"> }) {
  const { name, color } = PAYMENT_STATES[payment.status];
  return (
    <Group gap={6} wrap="nowrap">
      {payment.isLate && <Badge color="yellow">Late</Badge>}
      <Badge color={color}>{name}</Badge>
    </Group>
  );
}
