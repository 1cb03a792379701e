import { Card, Stack, Title } from "@mantine/core";
import type { PaymentDetails } from "../api/operations.ts";
import { Fact } from "../invoices/fact.tsx";
import { networkName } from "../shell/coin-name.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { ChainAddress, TransactionHash } from "../shell/on-chain.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";

export function PaymentFacts({ payment }: { readonly payment: PaymentDetails }) {
  const { coins } = useFormats();
  const { network, confirmations, requiredConfirmations: required } = payment;
  return (
    <Card component="section" aria-labelledby="payment-facts" padding="md">
      <Stack gap="sm">
        <Title order={2} id="payment-facts">
          This payment
        </Title>
        <Stack component="dl" m={0} gap="xs">
          <Fact name="Amount">
            {coins(payment.amount)} {payment.currency}
          </Fact>
          <Fact name="Network">{networkName(network)}</Fact>
          <Fact name="Seen">
            <Time value={payment.receivedTxAt} />
          </Fact>
          <Fact name="Confirmations">
            {payment.invoiceId === null || confirmations >= required
              ? confirmations
              : `${confirmations} of ${required}`}
          </Fact>
          {payment.fromAddress !== null && (
            <Fact name="From">
              <ChainAddress network={network} address={payment.fromAddress} name="the sender's address" />
            </Fact>
          )}
          <Fact name="To">
            <ChainAddress network={network} address={payment.toAddress} name="your address" />
          </Fact>
          <Fact name="Transaction">
            <TransactionHash network={network} hash={payment.txHash} />
          </Fact>
          <Fact name="ID">
            <CopyText value={payment.id} name="the ID" />
          </Fact>
        </Stack>
      </Stack>
    </Card>
  );
}
