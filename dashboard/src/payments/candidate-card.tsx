import { Anchor, Button, Card, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import type { Invoice, PaymentDetails } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { isOpen } from "../invoices/columns.tsx";
import { Fact } from "../invoices/fact.tsx";
import { InvoiceState } from "../invoices/status.tsx";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import type { Decision } from "./decision.tsx";
import { differenceOf } from "./difference.ts";
import { likelihood } from "./likelihood.ts";

type Candidate = PaymentDetails["evidence"]["candidates"][number];

/** Why the rules did not choose the invoice. */
const REASONS: Readonly<Record<Candidate["reason"], string>> = {
  AMBIGUOUS: "Not credited automatically, because another invoice was possible too.",
  AMOUNT_DIFFERS: "Not chosen because the amount differs from the amount due.",
  OUTSIDE_WINDOW: "Not chosen because the payment did not arrive while the invoice was open.",
  TOO_MANY_PAYMENTS: "Not chosen because it already has 200 payments.",
  NOT_CONSIDERED: "Not considered by the automatic rules.",
};

interface Props {
  readonly payment: PaymentDetails;
  readonly candidate: Candidate;
  /** Undefined for a member who may not resolve it. */
  readonly onChosen: ((decision: Decision) => void) | undefined;
}

export function CandidateCard({ payment, candidate, onChosen }: Props) {
  const { invoiceId, reason } = candidate;
  const formats = useFormats();
  const { merchantId, recommendation } = payment;
  const isAdvised = recommendation?.action === "ASSIGN" && recommendation.invoiceId === invoiceId;
  const titleId = useId();
  const invoice = useList("getInvoice", { merchantId, params: { invoiceId } });
  return (
    <Card component="section" aria-labelledby={titleId} padding="md">
      <Read query={invoice}>
        {(data) => (
          <Stack gap="sm" h="100%">
            <Stack gap={6} align="flex-start">
              <Title order={2} id={titleId} style={{ overflowWrap: "anywhere" }}>
                <Anchor component={Link} to={`/console/${merchantId}/invoices/${invoiceId}`} inherit>
                  {data.name}
                </Anchor>
              </Title>
              <InvoiceState invoice={data} />
            </Stack>
            <Text size="sm" fw={550}>
              {REASONS[reason]}
            </Text>
            <Stack component="ul" gap={2} m={0} pl="md" aria-label="Why it is listed">
              {likelihood(payment.amount, candidate, formats).map((text) => (
                <Text key={text} component="li" size="sm">
                  {text}
                </Text>
              ))}
            </Stack>
            <InvoiceFacts invoice={data} payment={payment} />
            {candidate.isNamed && (
              <Text size="sm" c="dimmed">
                This alone is not proof of payment: transaction hashes are public.
              </Text>
            )}
            {onChosen !== undefined && (
              <Button
                mt="auto"
                variant={isAdvised ? "filled" : "light"}
                onClick={() => onChosen({ action: "ASSIGN", invoice: data })}
              >
                Assign to this invoice
              </Button>
            )}
          </Stack>
        )}
      </Read>
    </Card>
  );
}

function InvoiceFacts({ invoice, payment }: { readonly invoice: Invoice; readonly payment: PaymentDetails }) {
  const { coins, money } = useFormats();
  const { rawAmount, currency, customer } = invoice;
  const method = invoice.paymentMethods.find(
    (each) => each.cryptocurrency === payment.currency && each.network === payment.network,
  );
  const asked = method?.amountDue ?? method?.amount ?? null;
  const difference = asked === null ? undefined : differenceOf(payment.amount, asked);
  return (
    <Stack component="dl" m={0} gap="xs">
      <Fact name="Price">{isOpen(rawAmount) ? "Any amount" : money(rawAmount, currency)}</Fact>
      <Fact name="Amount due">{asked === null ? "None in this coin" : `${coins(asked)} ${payment.currency}`}</Fact>
      {difference !== undefined && (
        <Fact name="Difference">
          {difference.is === "equal" ? "None" : `${coins(difference.amount)} ${difference.is}`}
        </Fact>
      )}
      <Fact name="Received">{money(invoice.amountReceived, currency)}</Fact>
      <Fact name="Open from">
        <Time value={invoice.createdAt} />
      </Fact>
      <Fact name="Open until">
        <Time value={invoice.expiresAt} />
      </Fact>
      {customer !== null && <Fact name="Customer">{customer.email ?? customer.name ?? customer.id}</Fact>}
      {invoice.externalId !== null && <Fact name="Order number">{invoice.externalId}</Fact>}
    </Stack>
  );
}
