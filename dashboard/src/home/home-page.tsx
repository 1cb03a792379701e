import { SegmentedControl, Stack } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ReportTotals } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { ReadinessLine } from "../readiness/readiness-line.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { useZoneName } from "../shell/reader.tsx";
import { AttentionSection } from "./attention-section.tsx";
import { CoinsSection } from "./coins-section.tsx";
import { InvoicesSection } from "./invoices-section.tsx";
import { DaysSection, ReceivedSection, type TotalsProps } from "./received-section.tsx";
import { dayIn, daysOf, SPAN_NAMES, SPANS, type Span, spanOf } from "./spans.ts";
import { StepsSection } from "./steps-section.tsx";

const CHOICES = SPANS.map((span) => ({ value: String(span), label: SPAN_NAMES[span] }));

export function HomePage() {
  const { name } = useMerchant();
  const maySeeTotals = useMay("invoice:view");
  const span = spanOf(useSearch({ from: "/frame/merchant/console/$merchantId" }));
  return (
    <>
      <PageHeader title="Home" subtitle={name} actions={maySeeTotals && <SpanChoice span={span} />} />
      <Stack gap="lg">{maySeeTotals ? <Totals span={span} /> : <Waiting />}</Stack>
    </>
  );
}

function SpanChoice({ span }: { readonly span: Span }) {
  const navigate = useNavigate({ from: "/console/$merchantId" });
  return (
    <SegmentedControl
      aria-label="Period"
      data={CHOICES}
      value={String(span)}
      transitionDuration={0}
      styles={{ label: { paddingInline: "0.4rem" } }}
      onChange={(value) => {
        const chosen = SPANS.find((each) => String(each) === value);
        if (chosen !== undefined) void navigate({ search: { days: chosen }, replace: true });
      }}
    />
  );
}

/** Everything that needs the user: decisions about payments, coins with which customers cannot pay now, and the first steps. */
function Waiting() {
  const maySeeWallets = useMay("wallet:view");
  return (
    <>
      <AttentionSection />
      {maySeeWallets && <ReadinessLine />}
      <StepsSection />
    </>
  );
}

/** Reads one report for each of the two periods; nothing is added up here. */
function Totals({ span }: { readonly span: Span }) {
  const { id: merchantId } = useMerchant();
  const timezone = useZoneName();
  const days = daysOf(span, dayIn(timezone, Date.now()));
  const now = useList("getTotals", { merchantId, query: { ...days.now, timezone } });
  const before = useList("getTotals", { merchantId, query: { ...days.before, timezone } });
  // While the reports of a newly chosen period load, the old ones stay.
  const isOther = now.isPlaceholderData || before.isPlaceholderData;
  return (
    <Stack gap="lg" aria-busy={isOther}>
      <Both now={now} before={before}>
        {(read) => <ReceivedSection span={span} {...read} />}
      </Both>
      <Waiting />
      <Both now={now} before={before}>
        {(read) => (
          <>
            <DaysSection span={span} {...read} />
            <InvoicesSection span={span} {...read} />
            <CoinsSection span={span} {...read} />
          </>
        )}
      </Both>
    </Stack>
  );
}

interface BothProps {
  readonly now: UseQueryResult<ReportTotals, Error>;
  readonly before: UseQueryResult<ReportTotals, Error>;
  readonly children: (read: Pick<TotalsProps, "now" | "before">) => ReactNode;
}

function Both({ now, before, children }: BothProps) {
  return (
    <Read query={now}>
      {(current) => <Read query={before}>{(past) => children({ now: current, before: past })}</Read>}
    </Read>
  );
}
