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

/** How much the customer pays: the full amount due, or half of it, to try out a wrong amount. */
type Part = "ALL" | "HALF";

const PARTS = [
  { part: "HALF", name: "Pay only half", variant: "default" },
  { part: "ALL", name: "Pay as a customer", variant: "filled" },
] as const;

/** Half of a decimal amount; the result has one more digit. */
function halfOf(amount: string): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  const digits = String(BigInt(`${whole}${fraction}0`) / 2n).padStart(fraction.length + 2, "0");
  return `${digits.slice(0, -fraction.length - 1)}.${digits.slice(-fraction.length - 1)}`;
}

/** Whether the invoice's page asks for a payment: while it awaits one, and for the remaining amount once the merchant has requested it. */
function isAsking({ status, resolution }: Invoice): boolean {
  const isOver = status === "UNDERPAID" || status === "EXPIRED";
  return status === "AWAITING_PAYMENT" || (isOver && resolution?.action === "ASK_FOR_REST");
}

/** On a developer's machine: pays an open invoice on the test chain, and shows how its status changes. */
export function PayAsCustomer({ invoice }: { readonly invoice: Invoice }) {
  const { merchantId, id: invoiceId } = invoice;
  const { data: chain } = useQuery(reading("getTestChain", {}));
  // Includes methods of wallets that were added after the invoice was created.
  const { data: methods } = useQuery(reading("listPaymentMethods", { merchantId, params: { invoiceId } }));
  const mayCreate = useMay("invoice:create");
  const mayAddWallet = useMay("wallet:create");
  const activate = useChange("activatePaymentMethod");
  const pay = useChange("payAsCustomer", { isRepeatable: false });
  const [paid, setPaid] = useState<Part>();
  const [pressed, setPressed] = useState<Part>();
  const isPaying = activate.isPending || pay.isPending;
  if (paid === "ALL") return <Paid invoice={invoice} />;
  if (paid === "HALF") return <PaidHalf invoice={invoice} onPayAgain={() => setPaid(undefined)} />;
  if (chain === undefined || methods === undefined || chain.state === "UNAVAILABLE") return null;
  if (!isAsking(invoice) || !mayCreate) return null;
  const method = methods.data.find(({ network }) => network === chain.network);
  if (method === undefined && !mayAddWallet) return null;
  const payPart = async (chosen: PaymentMethod, part: Part) => {
    setPressed(part);
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
      about="Development servers only: pay as a customer on a test chain on this machine, without real money."
      actions={
        method === undefined || chain.state === "STOPPED" ? (
          <StartChain walletFor={method === undefined ? merchantId : undefined} />
        ) : (
          // The error is ignored here, because useChange shows it.
          <Group gap="xs">
            {PARTS.map(({ part, name, variant }) => (
              <Button
                key={part}
                variant={variant}
                disabled={isPaying}
                loading={isPaying && pressed === part}
                onClick={() => void payPart(method, part).catch(() => undefined)}
              >
                {name}
              </Button>
            ))}
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
          {status === "PAID" && "The invoice is paid. Its payment and the events for your server are shown below."}
          {!isWaiting && status !== "PAID" && "The customer has paid. The result is shown below."}
        </Text>
      </Group>
    </Section>
  );
}

/** Shown after the customer has paid half the amount. If other open invoices use the same address, the payment cannot be matched to one of them. */
function PaidHalf({ invoice, onPayAgain }: { readonly invoice: Invoice; readonly onPayAgain: () => void }) {
  const { merchantId, id: invoiceId } = invoice;
  useList("getInvoice", { merchantId, params: { invoiceId } }, () => READ_AGAIN_MS);
  return (
    <Section
      title="Pay it yourself"
      actions={
        <Button variant="default" onClick={onPayAgain}>
          Pay more
        </Button>
      }
    >
      <Text role="status">
        The customer has paid half. If no other invoice, paid or not, is open for this coin, the payment appears below.
        Otherwise it cannot be matched automatically, and appears under{" "}
        <Anchor component={Link} to={`/console/${merchantId}/payments`} underline="always" c="inherit">
          Payments to review
        </Anchor>
        .
      </Text>
    </Section>
  );
}
