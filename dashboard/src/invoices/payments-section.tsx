import { Anchor, Card, Group, Progress, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Invoice, Payment } from "../api/operations.ts";
import { PaymentState } from "../payments/status.tsx";
import { networkName } from "../shell/coin-name.ts";
import { useMay } from "../shell/merchants.ts";
import { ChainAddress, TransactionHash } from "../shell/on-chain.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { evidence } from "./evidence.ts";

export function PaymentsSection({ invoice }: { readonly invoice: Invoice }) {
  return (
    <Section title="Payments">
      {invoice.payments.length === 0 ? (
        <Text c="dimmed">No payments yet.</Text>
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
  const maySeePayments = useMay("payment:view");
  const { confirmations, requiredConfirmations: required } = payment;
  return (
    <Card padding="md" radius="md">
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Text fw={650} className="numbers">
              {coins(payment.amount)} {payment.currency}
            </Text>
            <Text c="dimmed">on {networkName(payment.network)}</Text>
            {payment.fiatAmount !== null && <Text c="dimmed">{money(payment.fiatAmount, currency)}</Text>}
          </Group>
          <PaymentState payment={payment} />
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
        {payment.status === "CONFIRMED" && (
          <Text size="sm" c="dimmed">
            {confirmations} confirmations ({required} required)
          </Text>
        )}
        <Text size="sm">{evidence(payment.matchedBy)}</Text>
        <Text size="sm" c="dimmed" component="div">
          Seen <Time value={payment.receivedTxAt} />
        </Text>
        <Text size="sm" component="div">
          <TransactionHash network={payment.network} hash={payment.txHash} />
        </Text>
        {payment.fromAddress !== null && (
          <Text size="sm" component="div">
            from <ChainAddress network={payment.network} address={payment.fromAddress} name="the sender's address" />
          </Text>
        )}
        {maySeePayments && (
          <Anchor component={Link} to={`/console/${payment.merchantId}/payments/${payment.id}`} size="sm">
            Payment details
          </Anchor>
        )}
      </Stack>
    </Card>
  );
}
