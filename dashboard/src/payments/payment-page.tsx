// A payment with its evidence. If no rule could credit it, the page shows the invoices that it may be meant for.
import { Alert, Anchor, Button, SimpleGrid, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { PaymentDetails } from "../api/operations.ts";
import { reading, useList } from "../api/queries.ts";
import { useDeciders } from "../shell/authors.ts";
import { networkName } from "../shell/coin-name.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { useMay } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import { PaymentAdvice } from "./advice.tsx";
import { CandidateCard } from "./candidate-card.tsx";
import { type Decision, DecisionDialog, PutBackButton } from "./decision.tsx";
import { EvidenceSection } from "./evidence-section.tsx";
import { OtherInvoiceCard } from "./other-invoice-card.tsx";
import { PaymentFacts } from "./payment-facts.tsx";
import { PaymentState } from "./status.tsx";

/** Together with the payment's own card and the card for any other invoice, this many candidates fill two rows. */
const SHOWN_AT_FIRST = 4;

export function PaymentPage() {
  const params = useParams({ from: "/frame/merchant/console/$merchantId/payments/$paymentId" });
  const { merchantId, paymentId } = params;
  const payment = useList("getPayment", { merchantId, params: { paymentId } });
  return (
    <Stack gap={0}>
      <Anchor component={Link} to={`/console/${merchantId}/payments`} size="sm" mb="xs">
        Payments to review
      </Anchor>
      <Read query={payment}>{(data) => <ThePayment payment={data} />}</Read>
    </Stack>
  );
}

function ThePayment({ payment }: { readonly payment: PaymentDetails }) {
  const { coins } = useFormats();
  const mayResolve = useMay("payment:resolve");
  const [decision, decide] = useState<Decision>();
  const candidates = advisedFirst(payment);
  const [isAll, showAll] = useDisclosure();
  const shown = isAll ? candidates : candidates.slice(0, SHOWN_AT_FIRST);
  const { status, resolution, invoiceId } = payment;
  const isWaiting = status === "UNMATCHED";
  const isOpen = invoiceId === null && (isWaiting || status === "IGNORED");
  const mayAssign = mayResolve && isOpen;
  const isPutAside = status === "IGNORED" && resolution?.action === "IGNORE";
  return (
    <>
      <PageHeader
        title={`${coins(payment.amount)} ${payment.currency}`}
        mark={<PaymentState payment={payment} />}
        subtitle={<WhatToDo payment={payment} />}
        actions={
          <>
            {mayResolve && isWaiting && (
              <Button variant="default" onClick={() => decide({ action: "IGNORE" })}>
                Ignore payment
              </Button>
            )}
            {mayResolve && isPutAside && <PutBackButton payment={payment} />}
          </>
        }
      />
      <Stack gap="lg">
        <Credited payment={payment} />
        <LastDecision payment={payment} />
        <PaymentAdvice payment={payment} onChosen={mayAssign ? decide : undefined} />
        <SimpleGrid cols={isOpen ? { base: 1, sm: 2, lg: 3 } : 1} spacing="md">
          <PaymentFacts payment={payment} />
          {isOpen &&
            shown.map((candidate) => (
              <CandidateCard
                key={candidate.invoiceId}
                payment={payment}
                candidate={candidate}
                onChosen={mayAssign ? decide : undefined}
              />
            ))}
          {mayAssign && <OtherInvoiceCard payment={payment} onChosen={decide} />}
        </SimpleGrid>
        {isOpen && shown.length < candidates.length && (
          <Button variant="subtle" onClick={showAll.open}>
            Show {candidates.length - shown.length} more possible invoices
          </Button>
        )}
        <EvidenceSection payment={payment} />
      </Stack>
      <DecisionDialog payment={payment} decision={decision} onClose={() => decide(undefined)} />
    </>
  );
}

/** The candidates: the recommended one first, then the others in the API's order. */
function advisedFirst({ evidence: { candidates }, recommendation }: PaymentDetails) {
  const isAdvised = ({ invoiceId }: (typeof candidates)[number]) => invoiceId === recommendation?.invoiceId;
  return [...candidates.filter(isAdvised), ...candidates.filter((each) => !isAdvised(each))];
}

function WhatToDo({ payment }: { readonly payment: PaymentDetails }) {
  const { candidates } = payment.evidence;
  if (payment.status !== "UNMATCHED") return `On ${networkName(payment.network)}`;
  if (candidates.length === 0) return "It matches no open invoice. Find the right invoice, or ignore the payment.";
  return "Compare it with the possible invoices below, then assign or ignore it.";
}

function Credited({ payment: { invoiceId, merchantId } }: { readonly payment: PaymentDetails }) {
  if (invoiceId === null) return null;
  return (
    <Alert color="green" title="Credited to an invoice">
      <InvoiceName merchantId={merchantId} invoiceId={invoiceId} />
      <Anchor component={Link} to={`/console/${merchantId}/invoices/${invoiceId}`} size="sm" fw={600}>
        View invoice
      </Anchor>
    </Alert>
  );
}

function InvoiceName({ merchantId, invoiceId }: { readonly merchantId: string; readonly invoiceId: string }) {
  const enabled = useMay("invoice:view");
  const { data } = useQuery({ ...reading("getInvoice", { merchantId, params: { invoiceId } }), enabled });
  if (data === undefined) return null;
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }}>
      {data.name}
    </Text>
  );
}

const DECISIONS = { ASSIGN: "Assigned manually", IGNORE: "Ignored manually", REOPEN: "Reopened manually" } as const;

function LastDecision({ payment: { resolution } }: { readonly payment: PaymentDetails }) {
  const deciderOf = useDeciders();
  if (resolution === null) return null;
  return (
    <Alert color="gray" title={DECISIONS[resolution.action]}>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {resolution.reason}
      </Text>
      {resolution.txHash !== undefined && (
        <Text size="sm" component="div">
          Return transaction: <CopyText value={resolution.txHash} name="the transaction hash" />
        </Text>
      )}
      <Text size="sm" c="dimmed" component="div">
        {deciderOf(resolution.actor)}, <Time value={resolution.at} />
      </Text>
    </Alert>
  );
}
