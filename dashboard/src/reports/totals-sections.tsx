import { Box, ScrollArea, Stack, Table, Text } from "@mantine/core";
import type { ReportTotals } from "../api/operations.ts";
import { NotInSums } from "../home/not-in-sums.tsx";
import { paidOf, receivedIn, type Sums } from "../home/sums.ts";
import { coinName } from "../shell/coin-name.ts";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { usePeriodName } from "./period-name.ts";

interface Props {
  readonly totals: ReportTotals;
}

export function ReceivedSection({ totals }: Props) {
  const { count } = useFormats();
  const { payments } = totals.total;
  return (
    <Section title="Received" about={payments === 1 ? "1 payment" : `${count(payments)} payments`}>
      {totals.total.received.length === 0 ? (
        <Text c="dimmed">Nothing received on these days. Choose other dates, or wait for your first payment.</Text>
      ) : (
        <Amounts of={totals.total} isLarge />
      )}
      <NotInSums of={totals.total} />
    </Section>
  );
}

type Received = Pick<Sums, "received">;

/** The received amounts, one line per currency. */
function Amounts({ of, isLarge = false }: { readonly of: Received; readonly isLarge?: boolean }) {
  const { sum } = useFormats();
  return (
    <Stack gap={0} className="numbers">
      {of.received.map(({ currency, amount }) => (
        <Text
          key={currency}
          fz={isLarge ? "1.5rem" : "sm"}
          fw={isLarge ? 680 : 400}
          style={isLarge ? { overflowWrap: "anywhere" } : { whiteSpace: "nowrap" }}
        >
          {sum(amount, currency)}
        </Text>
      ))}
    </Stack>
  );
}

/** The received amounts with a bar under each line, in proportion to the largest amount in `all` in its currency. */
function BarAmounts({ of, all }: { readonly of: Received; readonly all: readonly Received[] }) {
  const { sum } = useFormats();
  return of.received.map(({ currency, amount }) => {
    // Lengths are JavaScript numbers, which may lose digits; the printed amounts are exact.
    const most = Math.max(...all.map((each) => Number(receivedIn(each, currency))));
    return (
      <Box key={currency}>
        <Text size="sm" style={{ whiteSpace: "nowrap" }}>
          {sum(amount, currency)}
        </Text>
        <Box
          aria-hidden="true"
          h={4}
          w={`${most > 0 ? (100 * Number(amount)) / most : 0}%`}
          ml="auto"
          bg="var(--mantine-color-indigo-5)"
          style={{ borderRadius: 2 }}
        />
      </Box>
    );
  });
}

const TITLES = { day: "By day", week: "By week", month: "By month" } as const;

/** The periods that are not empty, newest first. A phone has space only for the payments. */
export function PeriodsSection({ totals }: Props) {
  const { count } = useFormats();
  const nameOf = usePeriodName();
  const periods = totals.periods.filter(({ invoices, payments }) => {
    return payments > 0 || Object.values(invoices).some((number) => number > 0);
  });
  if (periods.length === 0) return null;
  return (
    <Section title={TITLES[totals.by]}>
      <ScrollArea.Autosize mah={460} viewportProps={{ tabIndex: 0, "aria-label": TITLES[totals.by], role: "group" }}>
        <Table verticalSpacing={6} stickyHeader styles={{ th: { background: "var(--console-card)" } }}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Period</Table.Th>
              <Table.Th ta="right" visibleFrom="sm">
                Invoices
              </Table.Th>
              <Table.Th ta="right" visibleFrom="sm">
                Paid
              </Table.Th>
              <Table.Th ta="right">Payments</Table.Th>
              <Table.Th ta="right">Received</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody className="numbers">
            {periods.toReversed().map((period) => (
              <Table.Tr key={period.from}>
                <Table.Td>{nameOf(period)}</Table.Td>
                <Table.Td ta="right" visibleFrom="sm">
                  {count(period.invoices.created)}
                </Table.Td>
                <Table.Td ta="right" visibleFrom="sm">
                  {count(paidOf(period))}
                </Table.Td>
                <Table.Td ta="right">{count(period.payments)}</Table.Td>
                <Table.Td ta="right">
                  <BarAmounts of={period} all={periods} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </Section>
  );
}

/** Test coins are shown separately. */
export function CoinsSection({ totals }: Props) {
  const rows = totals.total.coins.filter(({ payments }) => payments > 0);
  const [real, tests] = [rows.filter(({ isTest }) => !isTest), rows.filter(({ isTest }) => isTest)];
  return (
    <>
      {real.length > 0 && (
        <Section title="By coin">
          <CoinTable rows={real} hasValue />
        </Section>
      )}
      {tests.length > 0 && (
        <Section
          title="Test money"
          about="Received on test networks. It has no value and is not included in any total."
        >
          <CoinTable rows={tests} hasValue={false} />
        </Section>
      )}
    </>
  );
}

interface CoinTableProps {
  readonly rows: Sums["coins"];
  readonly hasValue: boolean;
}

function CoinTable({ rows, hasValue }: CoinTableProps) {
  const { coins, count } = useFormats();
  return (
    <Table verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Coin</Table.Th>
          <Table.Th ta="right">Received</Table.Th>
          {hasValue && (
            <Table.Th ta="right" visibleFrom="sm">
              Value
            </Table.Th>
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody className="numbers">
        {rows.map((row) => (
          <Table.Tr key={`${row.cryptocurrency} ${row.network}`}>
            <Table.Td>
              <Text size="sm" fw={600}>
                {coinName(row.cryptocurrency, row.network)}
              </Text>
              <Text size="xs" c="dimmed">
                {row.payments === 1 ? "1 payment" : `${count(row.payments)} payments`}
              </Text>
            </Table.Td>
            <Table.Td ta="right">
              <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                {coins(row.amount)} {row.cryptocurrency}
              </Text>
              {hasValue && (
                <Box hiddenFrom="sm" c="dimmed">
                  <Amounts of={row} />
                </Box>
              )}
            </Table.Td>
            {hasValue && (
              <Table.Td ta="right" visibleFrom="sm">
                <Amounts of={row} />
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
