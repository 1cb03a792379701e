import { Card, Stack, Table, VisuallyHidden } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { ReactNode } from "react";

export interface Column<Row> {
  readonly name: string;
  /** Right-aligned, in tabular figures. */
  readonly isNumeric?: true;
  /** Has a button that makes no row taller and stays visible however wide the table is. Only a screen reader reads its name. */
  readonly isAction?: true;
  readonly maxWidth?: number;
  readonly show: (row: Row) => ReactNode;
}

interface Props<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** A row's text where there is no room for columns. */
  readonly card: (row: Row) => ReactNode;
  /** Whether other rows are loading. */
  readonly isStale?: boolean;
  /** In pixels; a narrower table scrolls separately. */
  readonly minWidth?: number;
}

const AT_THE_EDGE = { position: "sticky", right: 0, background: "var(--console-card)" } as const;

/** The rows of a list: a table, or cards on a phone. */
export function Rows<Row extends { readonly id: string }>(props: Props<Row>) {
  const { rows, columns, card, isStale = false, minWidth = 600 } = props;
  const isNarrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  if (isNarrow) {
    return (
      <Stack gap="xs" aria-busy={isStale}>
        {rows.map((row) => (
          <Card key={row.id} padding="md" className="row-card">
            {card(row)}
          </Card>
        ))}
      </Stack>
    );
  }
  return (
    <Card padding={0} aria-busy={isStale}>
      <Table.ScrollContainer minWidth={minWidth} type="native">
        <Table highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ name, isNumeric, isAction }) => (
                <Table.Th
                  key={name}
                  ta={isNumeric ? "right" : "left"}
                  w={isAction && 50}
                  style={isAction && AT_THE_EDGE}
                >
                  {isAction ? <VisuallyHidden>{name}</VisuallyHidden> : name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.id}>
                {columns.map(({ name, isNumeric, isAction, maxWidth, show }) => (
                  <Table.Td
                    key={name}
                    ta={isNumeric ? "right" : "left"}
                    maw={maxWidth}
                    py={isAction && 0}
                    px={isAction && "xs"}
                    className="numbers"
                    style={isAction && AT_THE_EDGE}
                  >
                    {show(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}
