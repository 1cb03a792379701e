import { Badge, Group } from "@mantine/core";
import type { Invoice } from "../api/operations.ts";
import { isTestNetwork } from "../shell/coin-name.ts";
import { INVOICE_STATES } from "./states.ts";

type Shown = Pick<Invoice, "status" | "needsReview" | "isLate"> & Partial<Pick<Invoice, "amountReceived" | "payments">>;

export function InvoiceState({ invoice }: { readonly invoice: Shown }) {
  const { status, amountReceived = "0", payments = [] } = invoice;
  const isTest = payments.some(({ network }) => isTestNetwork(network));
  const { name, color } = INVOICE_STATES[status];
  return (
    <Group gap={6}>
      <Badge color={color}>{name}</Badge>
      {status === "AWAITING_PAYMENT" && Number(amountReceived) > 0 && <Badge color="yellow">Partly paid</Badge>}
      {invoice.needsReview && <Badge color="orange">Needs review</Badge>}
      {isTest && <Badge color="gray">Test money</Badge>}
      {invoice.isLate && <Badge color="yellow">Late</Badge>}
    </Group>
  );
}
