import { Badge, Group, Stack, Text } from "@mantine/core";
import { errorText } from "../api/error-texts.ts";
import type { Invoice, PaymentMethod } from "../api/operations.ts";
import { coinName } from "../shell/coin-name.ts";
import { ChainAddress } from "../shell/on-chain.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { useWalletPairs } from "./wallet-pairs.ts";

const STATES = {
  ACTIVE: { name: "Chosen", color: "indigo" },
  AVAILABLE: { name: "Offered", color: "gray" },
  UNAVAILABLE: { name: "Not offered", color: "orange" },
} as const;

export function MethodsSection({ invoice }: { readonly invoice: Invoice }) {
  const { pairs } = useWalletPairs();
  const none = pairs.length === 0 ? "None yet. Add a wallet first." : "The customer has not chosen a coin yet.";
  return (
    <Section title="Payment methods" about="What the customer can pay with, and what they were asked to send.">
      {invoice.paymentMethods.length === 0 && <Text c="dimmed">{none}</Text>}
      {invoice.paymentMethods.map((method) => (
        <Method key={`${method.cryptocurrency} ${method.network}`} method={method} currency={invoice.currency} />
      ))}
    </Section>
  );
}

function Method({ method, currency }: { readonly method: PaymentMethod; readonly currency: string }) {
  const { coins, money } = useFormats();
  const { cryptocurrency, network, status, address, amount, amountDue, rate, rateAt } = method;
  const isPartlyPaid = amountDue !== null && amountDue !== amount && Number(amountDue) > 0;
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text fw={600}>{coinName(cryptocurrency, network)}</Text>
        <Badge color={STATES[status].color}>{STATES[status].name}</Badge>
      </Group>
      {amount !== null && (
        <Text size="sm" className="numbers">
          {coins(amount)} {cryptocurrency}
          {isPartlyPaid && `, ${coins(amountDue)} still due`}
          {rate !== null && ` at ${money(rate, currency)} per coin`}
          {rateAt !== null && (
            <>
              , as of <Time value={rateAt} />
            </>
          )}
        </Text>
      )}
      {status === "ACTIVE" && (
        <Text size="sm" c="dimmed" component="div">
          Counts after {method.requiredConfirmations} confirmations
          {method.quotedAt !== null && (
            <>
              . Quoted <Time value={method.quotedAt} />
            </>
          )}
        </Text>
      )}
      {address !== null && (
        <Text size="sm" component="div">
          <ChainAddress network={network} address={address} name={`the ${cryptocurrency} address`} />
        </Text>
      )}
      {method.reason !== null && (
        <Text size="sm" c="dimmed">
          {errorText(method.reason, method.reason)}
        </Text>
      )}
    </Stack>
  );
}
