import { Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Payment } from "../api/operations.ts";
import { networkName } from "../shell/coin-name.ts";
import { shortened } from "../shell/formats.ts";
import { useFormats } from "../shell/reader.tsx";
import { type Column, Rows } from "../shell/rows.tsx";
import { Time } from "../shell/time.tsx";
import { PaymentState } from "./status.tsx";

interface Props {
  readonly payments: readonly Payment[];
  readonly isStale: boolean;
}

const COLUMNS: readonly Column<Payment>[] = [
  { name: "Payment", show: (payment) => <PaymentLink payment={payment} /> },
  { name: "Network", show: ({ network }) => network },
  { name: "From", show: ({ fromAddress }) => <span className="mono">{shortened(fromAddress ?? "")}</span> },
  { name: "Status", show: (payment) => <PaymentState payment={payment} /> },
  { name: "Seen", show: ({ receivedTxAt }) => <Time value={receivedTxAt} /> },
];

export function PaymentRows({ payments, isStale }: Props) {
  return (
    <Rows
      rows={payments}
      columns={COLUMNS}
      isStale={isStale}
      card={(payment) => (
        <>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <PaymentLink payment={payment} />
            <PaymentState payment={payment} />
          </Group>
          <Group justify="space-between" mt="xs" gap="xs">
            <Text size="sm">on {networkName(payment.network)}</Text>
            <Text size="sm" c="dimmed" component="div">
              <Time value={payment.receivedTxAt} />
            </Text>
          </Group>
        </>
      )}
    />
  );
}

function PaymentLink({ payment }: { readonly payment: Payment }) {
  const { coins } = useFormats();
  return (
    <Link
      className="row-link"
      to="/console/$merchantId/payments/$paymentId"
      params={{ merchantId: payment.merchantId, paymentId: payment.id }}
    >
      <Text span size="sm" fw={600} className="numbers">
        {coins(payment.amount)} {payment.currency}
      </Text>
    </Link>
  );
}
