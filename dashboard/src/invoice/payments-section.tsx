import { Badge, Card, Group, Progress, Stack, Text } from "@mantine/core";
import type { Invoice, Payment } from "../api/operations.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { evidence } from "./evidence.ts";

const STATES: Readonly<Record<Payment["status"], { readonly name: string; readonly color: string }>> = {
  DETECTED: { name: "Seen", color: "blue" },
  CONFIRMED: { name: "Confirmed", color: "green" },
  DROPPED: { name: "Dropped", color: "red" },
  REORGED: { name: "Reorganised away", color: "red" },
  UNMATCHED: { name: "Unmatched", color: "orange" },
  IGNORED: { name: "Ignored", color: "gray" },
};

export function PaymentsSection({ invoice }: { readonly invoice: Invoice }) {
  return (
    <Section title="Payments">
      {invoice.payments.length === 0 ? (
        <Text c="dimmed">No payment has been seen yet.</Text>
      ) : (
        invoice.payments.map((payment) => (
          <PaymentCard key={payment.id} payment={payment} currency={invoice.currency} />
        ))
      )}
    </Section>
  );
}

function PaymentCard({ payment, currency }: { readonly payment: Payment; readonly currency: string }) {
  const { coins, money } = useFormats();
  const { name, color } = STATES[payment.status];
  const { confirmations, requiredConfirmations: required } = payment;
  return (
    <Card padding="md" radius="md">
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Text fw={650} className="numbers">
              {coins(payment.amount)} {payment.currency}
            </Text>
            <Text c="dimmed">on {payment.network}</Text>
            {payment.fiatAmount !== null && <Text c="dimmed">{money(payment.fiatAmount, currency)}</Text>}
          </Group>
          <Group gap="xs">
            {payment.isLate && <Badge color="yellow">Late</Badge>}
            <Badge color={color}>{name}</Badge>
          </Group>
        </Group>
        {payment.status === "DETECTED" && (
          <Stack gap={4}>
            <Progress
              value={Math.min(100, (confirmations / Math.max(1, required)) * 100)}
              aria-label={`${confirmations} of ${required} confirmations`}
            />
            <Text size="sm" c="dimmed">
              {confirmations} of {required} confirmations
            </Text>
          </Stack>
        )}
        <Text size="sm">{evidence(payment.matchedBy)}</Text>
        <Text size="sm" c="dimmed" component="div">
          Seen <Time value={payment.receivedTxAt} />
        </Text>
        <Text size="sm" component="div">
          <CopyText value={payment.txHash} name="the transaction hash" />
        </Text>
      </Stack>
    </Card>
  );
}
