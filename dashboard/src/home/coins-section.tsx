import { Table, Text } from "@mantine/core";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { WithoutValue } from "./not-in-sums.tsx";
import type { TotalsProps } from "./received-section.tsx";
import { BEFORE_NAMES } from "./spans.ts";
import { type CoinRow, coinRows } from "./sums.ts";

export function CoinsSection({ span, now, before }: TotalsProps) {
  const rows = coinRows(now.total, before.total);
  if (rows.length === 0) return null;
  return (
    <Section title="By coin" about={`Compared with ${BEFORE_NAMES[span]}.`}>
      <Table verticalSpacing="xs" horizontalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Coin</Table.Th>
            <Table.Th ta="right">Received</Table.Th>
            <Table.Th ta="right">Its value</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="numbers">
          {rows.map((row) => (
            <Row key={row.name} row={row} />
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  );
}

function Row({ row: { name, cryptocurrency, now, before } }: { readonly row: CoinRow }) {
  const { coins, sum } = useFormats();
  const amountOf = (coin: typeof now) => `${coins(coin?.amount ?? "0")} ${cryptocurrency}`;
  const payments = now?.payments ?? 0;
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {payments === 1 ? "1 payment" : `${payments} payments`}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        {amountOf(now)}
        <Text size="xs" c="dimmed">
          {amountOf(before)} before
        </Text>
      </Table.Td>
      <Table.Td ta="right" valign="top">
        {(now ?? before)?.isTest === true && <WithoutValue />}
        {now?.received.map(({ currency, amount }) => (
          <div key={currency}>{sum(amount, currency)}</div>
        ))}
      </Table.Td>
    </Table.Tr>
  );
}
