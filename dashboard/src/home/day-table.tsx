import { ScrollArea, Table } from "@mantine/core";
import type { ReportTotals } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { receivedIn } from "./sums.ts";

interface Props {
  readonly now: ReportTotals;
  readonly before: ReportTotals;
  readonly currency: string;
}

/** Newest day first, next to the corresponding day of the previous period. */
export function DayTable({ now, before, currency }: Props) {
  const { day, sum } = useFormats();
  const days = now.periods.map((period, place) => ({ period, past: before.periods[place] })).toReversed();
  return (
    <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, "aria-label": "Received by day", role: "region" }}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day</Table.Th>
            <Table.Th ta="right">Received</Table.Th>
            <Table.Th ta="right">Previous period</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="numbers">
          {days.map(({ period, past }) => (
            <Table.Tr key={period.from}>
              <Table.Td>{day(period.from)}</Table.Td>
              <Table.Td ta="right">{sum(receivedIn(period, currency), currency)}</Table.Td>
              <Table.Td ta="right">{past !== undefined && sum(receivedIn(past, currency), currency)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}
