import { Table, Text } from "@mantine/core";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import type { TotalsProps } from "./received-section.tsx";
import { BEFORE_NAMES } from "./spans.ts";
import { type CoinRow, coinRows } from "./sums.ts";

/** Test coins are listed separately, so that they are not added to real money by mistake. */
export function CoinsSection({ span, now, before }: TotalsProps) {
  const rows = coinRows(now.total, before.total);
  const [real, tests] = [rows.filter((row) => !isTest(row)), rows.filter(isTest)];
  return (
    <>
      {real.length > 0 && (
        <Section title="By coin" about={`Compared with ${BEFORE_NAMES[span]}.`}>
          <CoinTable rows={real} />
        </Section>
      )}
      {tests.length > 0 && (
        <Section
          title="Test money"
          about="Received on test networks. It has no value and is not included in any total."
        >
          <CoinTable rows={tests} />
        </Section>
      )}
    </>
  );
}

function isTest({ now, before }: CoinRow): boolean {
  return (now ?? before)?.isTest === true;
}

function CoinTable({ rows }: { readonly rows: readonly CoinRow[] }) {
  const hasValue = rows.some((row) => !isTest(row));
  return (
    <Table verticalSpacing="xs" horizontalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Coin</Table.Th>
          <Table.Th ta="right">Received</Table.Th>
          {hasValue && <Table.Th ta="right">Value</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody className="numbers">
        {rows.map((row) => (
          <Row key={row.name} row={row} hasValue={hasValue} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface RowProps {
  readonly row: CoinRow;
  readonly hasValue: boolean;
}

function Row({ row: { name, cryptocurrency, now, before }, hasValue }: RowProps) {
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
      {hasValue && (
        <Table.Td ta="right" valign="top">
          {now?.received.map(({ currency, amount }) => (
            <div key={currency}>{sum(amount, currency)}</div>
          ))}
        </Table.Td>
      )}
    </Table.Tr>
  );
}
