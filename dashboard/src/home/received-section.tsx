import { Button, Group, Select, Skeleton, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense, useState } from "react";
import type { ReportTotals } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { DayTable } from "./day-table.tsx";
import { Growth } from "./growth.tsx";
import { NotInSums } from "./not-in-sums.tsx";
import { BEFORE_NAMES, type Span } from "./spans.ts";
import { currenciesOf, growth, receivedIn } from "./sums.ts";

/** The library that draws is as large as the rest of the page. */
const DayChart = lazy(async () => ({ default: (await import("./day-chart.tsx")).DayChart }));
const CHART_HEIGHT = 260;

export interface TotalsProps {
  readonly span: Span;
  readonly now: ReportTotals;
  readonly before: ReportTotals;
}

export function ReceivedSection({ span, now, before }: TotalsProps) {
  const currencies = currenciesOf(now, before);
  const [chosen, choose] = useState<string>();
  const currency = currencies.find((each) => each === chosen) ?? currencies[0];
  return (
    <Section
      title="Received"
      about="What your customers paid, at its value when it came. It is in your wallets."
      actions={
        currencies.length > 1 && (
          <Select
            aria-label="Currency of the chart"
            data={[...currencies]}
            value={currency ?? null}
            onChange={(value) => choose(value ?? undefined)}
            allowDeselect={false}
            w={110}
          />
        )
      }
    >
      {currency === undefined ? (
        <Text c="dimmed">Nothing was received in this time, or in {BEFORE_NAMES[span]}.</Text>
      ) : (
        <>
          <Group gap="xl" align="flex-start">
            {currencies.map((each) => (
              <Received key={each} currency={each} span={span} now={now} before={before} />
            ))}
          </Group>
          {span > 1 && <Days now={now} before={before} currency={currency} />}
        </>
      )}
      <NotInSums of={now.total} />
    </Section>
  );
}

function Received({ currency, span, now, before }: TotalsProps & { readonly currency: string }) {
  const { sum } = useFormats();
  const [amount, past] = [receivedIn(now.total, currency), receivedIn(before.total, currency)];
  return (
    <Stack gap={2}>
      <Group gap="xs">
        <Text fz="1.75rem" lh={1.2} fw={680} className="numbers" style={{ overflowWrap: "anywhere" }}>
          {sum(amount, currency)}
        </Text>
        <Growth ratio={growth(amount, past)} />
      </Group>
      <Text size="sm" c="dimmed" className="numbers">
        {sum(past, currency)} {BEFORE_NAMES[span]}
      </Text>
    </Stack>
  );
}

interface DaysProps extends Omit<TotalsProps, "span"> {
  readonly currency: string;
}

/** The days as a chart, or as a table for who reads it better. */
function Days({ now, before, currency }: DaysProps) {
  const [isTable, { toggle }] = useDisclosure();
  return (
    <Stack gap="xs">
      {isTable ? (
        <DayTable now={now} before={before} currency={currency} />
      ) : (
        <Suspense fallback={<Skeleton height={CHART_HEIGHT} />}>
          <DayChart now={now} before={before} currency={currency} height={CHART_HEIGHT} />
        </Suspense>
      )}
      <Group justify="flex-end">
        <Button size="compact-sm" variant="subtle" onClick={toggle}>
          {isTable ? "Show as a chart" : "Show as a table"}
        </Button>
      </Group>
    </Stack>
  );
}
