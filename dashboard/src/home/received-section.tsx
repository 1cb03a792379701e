import { Box, Button, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { ReportTotals } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { DayBars } from "./day-bars.tsx";
import { DayTable } from "./day-table.tsx";
import { Growth } from "./growth.tsx";
import { NotInSums } from "./not-in-sums.tsx";
import { BEFORE_NAMES, type Span } from "./spans.ts";
import { currenciesOf, growth, receivedIn } from "./sums.ts";

export interface TotalsProps {
  readonly span: Span;
  readonly now: ReportTotals;
  readonly before: ReportTotals;
}

/** The received amounts, by currency. */
export function ReceivedSection({ span, now, before }: TotalsProps) {
  const currencies = currenciesOf(now, before);
  return (
    <Section title="Received" about="Valued at the time each payment arrived. The money is in your wallets.">
      {currencies.length === 0 ? (
        <Text c="dimmed">Nothing received in this period or the one before.</Text>
      ) : (
        <Group gap="xl" align="flex-start">
          {currencies.map((each) => (
            <Received key={each} currency={each} span={span} now={now} before={before} />
          ))}
        </Group>
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

/** The days as a chart, or as a table for users who prefer that. */
export function DaysSection({ span, now, before }: TotalsProps) {
  const currencies = currenciesOf(now, before);
  const [chosen, choose] = useState<string>();
  const [isTable, { toggle }] = useDisclosure();
  const currency = currencies.find((each) => each === chosen) ?? currencies[0];
  if (currency === undefined || span === 1) return null;
  return (
    <Section
      title="By day"
      actions={
        <Button size="compact-sm" variant="subtle" onClick={toggle}>
          {isTable ? "Show as a chart" : "Show as a table"}
        </Button>
      }
    >
      {currencies.length > 1 && (
        <Box style={{ overflowX: "auto" }}>
          <SegmentedControl
            aria-label="Currency"
            data={[...currencies]}
            value={currency}
            transitionDuration={0}
            onChange={choose}
          />
        </Box>
      )}
      {isTable ? (
        <DayTable now={now} before={before} currency={currency} />
      ) : (
        <DayBars now={now} before={before} currency={currency} />
      )}
    </Section>
  );
}
