import { Anchor, Button, Group, Loader, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Invoice, PaymentMethod } from "../api/operations.ts";
import { reading, useChange, useList } from "../api/queries.ts";
import { Icon } from "../shell/icons.tsx";
import { useMay } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { StartChain } from "./start-chain.tsx";

/** The chain mines a block every second while a payment is being confirmed. */
const READ_AGAIN_MS = 1_000;

/** What the customer pays: what the invoice asks for, or half of it, to see what happens to a wrong amount. */
type Part = "ALL" | "HALF";

/** Half of a decimal text, with one more digit. */
function halfOf(amount: string): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  const digits = String(BigInt(`${whole}${fraction}0`) / 2n).padStart(fraction.length + 2, "0");
  return `${digits.slice(0, -fraction.length - 1)}.${digits.slice(-fraction.length - 1)}`;
}

/** On a developer's machine: pays an open invoice on the test chain, and shows how it becomes paid. */
export function PayAsCustomer({ invoice }: { readonly invoice: Invoice }) {
  const { merchantId, id: invoiceId } = invoice;
  const { data: chain } = useQuery(reading("getTestChain", {}));
  // Includes wallets newer than the invoice.
  const { data: methods } = useQuery(reading("listPaymentMethods", { merchantId, params: { invoiceId } }));
  const mayCreate = useMay("invoice:create");
  const mayAddWallet = useMay("wallet:create");
  const activate = useChange("activatePaymentMethod");
  const pay = useChange("payAsCustomer", { isRepeatable: false });
  const [paid, setPaid] = useState<Part>();
  const isPaying = activate.isPending || pay.isPending;
  if (paid === "ALL") return <Paid invoice={invoice} />;
  if (paid === "HALF") return <PaidHalf invoice={invoice} />;
  if (chain === undefined || methods === undefined || chain.state === "UNAVAILABLE") return null;
  if (invoice.status !== "AWAITING_PAYMENT" || !mayCreate) return null;
  const method = methods.data.find(({ network }) => network === chain.network);
  if (method === undefined && !mayAddWallet) return null;
  const payPart = async (chosen: PaymentMethod, part: Part) => {
    const { cryptocurrency, network, status } = chosen;
    const choice = { merchantId, params: { invoiceId }, body: { cryptocurrency, network } };
    const asked = status === "ACTIVE" ? chosen : await activate.mutateAsync(choice);
    const { address, amountDue, requiredConfirmations } = asked;
    if (address === null || amountDue === null) throw new Error("an active payment method asks for an amount");
    const sent = part === "HALF" ? halfOf(amountDue) : amountDue;
    await pay.mutateAsync({
      body: { cryptocurrency, network: chain.network, address, amountDue: sent, requiredConfirmations },
    });
    setPaid(part);
  };
  return (
    <Section
      title="Pay it yourself"
      about="On development servers only: a customer pays on a test chain on this machine, without real money."
      actions={
        method === undefined || chain.state === "STOPPED" ? (
          <StartChain walletFor={method === undefined ? merchantId : undefined} />
        ) : (
          // A failure is shown like any failed change.
          <Group gap="xs">
            <Button
              variant="default"
              disabled={isPaying}
              onClick={() => void payPart(method, "HALF").catch(() => undefined)}
            >
              Pay only half
            </Button>
            <Button loading={isPaying} onClick={() => void payPart(method, "ALL").catch(() => undefined)}>
              Pay as a customer
            </Button>
          </Group>
        )
      }
    />
  );
}

/** Refetches the invoice more often than its page does, until the payment has its confirmations. */
function Paid({ invoice }: { readonly invoice: Invoice }) {
  const { merchantId, id: invoiceId, status } = invoice;
  const isWaiting = status === "AWAITING_PAYMENT" || status === "PENDING_CONFIRMATION";
  useList("getInvoice", { merchantId, params: { invoiceId } }, () => isWaiting && READ_AGAIN_MS);
  return (
    <Section title="Pay it yourself">
      <Group gap="sm" role="status" wrap="nowrap">
        {isWaiting ? <Loader size="xs" role="presentation" aria-hidden /> : <Icon name="check" />}
        <Text>
          {isWaiting && "The customer has paid. The payment and its confirmations appear below."}
          {status === "PAID" &&
            "The invoice is paid. Below are its payment, and what your server would be notified of."}
          {!isWaiting && status !== "PAID" && "The customer has paid. See below what came of it."}
        </Text>
      </Group>
    </Section>
  );
}

/** If other invoices wait at the same address, half an amount cannot be attributed to one. */
function PaidHalf({ invoice: { merchantId, id: invoiceId } }: { readonly invoice: Invoice }) {
  useList("getInvoice", { merchantId, params: { invoiceId } }, () => READ_AGAIN_MS);
  return (
    <Section title="Pay it yourself">
      <Text role="status">
        The customer has paid half. If this invoice alone waits for this coin, the payment appears below. Otherwise
        nobody can tell for which it was meant, and it waits under{" "}
        <Anchor component={Link} to={`/console/${merchantId}/payments`} underline="always" c="inherit">
          Payments to review
        </Anchor>
        .
      </Text>
    </Section>
  );
}
