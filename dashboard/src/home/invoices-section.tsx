import { Anchor, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { InvoicesSearch } from "../invoices/search.ts";
import { useMerchant } from "../shell/merchants.ts";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Growth } from "./growth.tsx";
import type { TotalsProps } from "./received-section.tsx";
import { BEFORE_NAMES } from "./spans.ts";
import { growthOfCount, meanTimeToPaid, paidOf } from "./sums.ts";

export function InvoicesSection({ span, now, before }: TotalsProps) {
  const { duration } = useFormats();
  const [current, past] = [now.total, before.total];
  const [mean, pastMean] = [meanTimeToPaid(current), meanTimeToPaid(past)];
  const inWords = (seconds: number | undefined) => (seconds === undefined ? "-" : duration(seconds));
  const isCompared = mean !== undefined && pastMean !== undefined;
  return (
    <Section title="Invoices" about={`Compared with ${BEFORE_NAMES[span]}.`}>
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="lg" verticalSpacing="md">
        <Count name="Created" now={current.invoices.created} before={past.invoices.created} search={{}} />
        <Count name="Paid" now={paidOf(current)} before={paidOf(past)} search={{ status: "PAID" }} />
        <Count
          name="Underpaid"
          now={current.invoices.underpaid}
          before={past.invoices.underpaid}
          search={{ status: "UNDERPAID" }}
          isLessBetter
        />
        <Count
          name="Expired"
          now={current.invoices.expired}
          before={past.invoices.expired}
          search={{ status: "EXPIRED" }}
          isLessBetter
        />
        <Count
          name="Cancelled"
          now={current.invoices.cancelled}
          before={past.invoices.cancelled}
          search={{ status: "CANCELLED" }}
          isLessBetter
        />
        <Figure
          name="Time to pay"
          value={inWords(mean)}
          before={inWords(pastMean)}
          growth={<Growth ratio={isCompared ? growthOfCount(mean, pastMean) : undefined} isLessBetter />}
        />
      </SimpleGrid>
    </Section>
  );
}

interface CountProps {
  readonly name: string;
  readonly now: number;
  readonly before: number;
  /** Which invoices the number links to. */
  readonly search: InvoicesSearch;
  readonly isLessBetter?: boolean;
}

function Count({ name, now, before, search, isLessBetter = false }: CountProps) {
  const { count } = useFormats();
  const { id: merchantId } = useMerchant();
  return (
    <Figure
      name={
        <Anchor
          inherit
          underline="always"
          renderRoot={(props) => (
            <Link to="/console/$merchantId/invoices" params={{ merchantId }} search={search} {...props} />
          )}
        >
          {name}
        </Anchor>
      }
      value={count(now)}
      before={count(before)}
      growth={<Growth ratio={growthOfCount(now, before)} isLessBetter={isLessBetter} />}
    />
  );
}

interface FigureProps {
  readonly name: ReactNode;
  readonly value: string;
  readonly before: string;
  readonly growth: ReactNode;
}

function Figure({ name, value, before, growth }: FigureProps) {
  return (
    <Stack gap={2}>
      <Text size="sm" c="dimmed" component="div">
        {name}
      </Text>
      <Group gap={6}>
        <Text fz="1.35rem" lh={1.2} fw={650} className="numbers">
          {value}
        </Text>
        {growth}
      </Group>
      <Text size="xs" c="dimmed" className="numbers">
        {before} before
      </Text>
    </Stack>
  );
}
