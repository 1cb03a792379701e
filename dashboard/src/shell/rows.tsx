import { Card, Checkbox, Group, Stack, Table, VisuallyHidden } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { ReactNode } from "react";

export interface Column<Row> {
  readonly name: string;
  /** Right-aligned, in tabular figures. */
  readonly isNumeric?: true;
  /**
   * Whether the cell holds a button. The button does not make its row taller, and stays visible however wide the table is.
   * The column's name is only for screen readers.
   */
  readonly isAction?: true;
  readonly maxWidth?: number;
  readonly show: (row: Row) => ReactNode;
}

/** Which of the shown rows are selected. */
interface Selection<Row> {
  readonly ids: ReadonlySet<string>;
  readonly nameOf: (row: Row) => string;
  readonly onChange: (ids: ReadonlySet<string>) => void;
}

interface Props<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** How a row is shown if there is no room for columns. */
  readonly card: (row: Row) => ReactNode;
  /** Whether other rows are loading. */
  readonly isStale?: boolean;
  /** In pixels. If there is less space, the table scrolls separately from the page. */
  readonly minWidth?: number;
  /** Present if something can be done with several rows at once. */
  readonly selection?: Selection<Row>;
}

const AT_THE_EDGE = { position: "sticky", right: 0, background: "var(--console-card)" } as const;

/** The rows of a list: a table, or cards on a phone. */
export function Rows<Row extends { readonly id: string }>(props: Props<Row>) {
  const { rows, card, isStale = false, selection } = props;
  const isNarrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  if (!isNarrow) return <RowTable {...props} />;
  return (
    <Stack gap="xs" aria-busy={isStale}>
      {rows.map((row) => (
        <Card key={row.id} padding="md" className="row-card">
          {selection === undefined ? (
            card(row)
          ) : (
            <Group wrap="nowrap" align="flex-start" gap="sm">
              <RowCheckbox row={row} selection={selection} />
              <div style={{ flex: 1, minWidth: 0 }}>{card(row)}</div>
            </Group>
          )}
        </Card>
      ))}
    </Stack>
  );
}

function RowTable<Row extends { readonly id: string }>(props: Props<Row>) {
  const { rows, columns, isStale = false, minWidth = 600, selection } = props;
  return (
    <Card padding={0} aria-busy={isStale}>
      <Table.ScrollContainer minWidth={minWidth} type="native">
        <Table highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              {selection !== undefined && (
                <Table.Th w={36} pr={0}>
                  <AllCheckbox rows={rows} selection={selection} />
                </Table.Th>
              )}
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
              <TableRow key={row.id} row={row} columns={columns} selection={selection} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}

interface TableRowProps<Row> extends Pick<Props<Row>, "columns"> {
  readonly row: Row;
  readonly selection: Selection<Row> | undefined;
}

function TableRow<Row extends { readonly id: string }>({ row, columns, selection }: TableRowProps<Row>) {
  return (
    <Table.Tr>
      {selection !== undefined && (
        <Table.Td pr={0}>
          <RowCheckbox row={row} selection={selection} />
        </Table.Td>
      )}
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
  );
}

interface CheckboxProps<Row> {
  readonly row: Row;
  readonly selection: Selection<Row>;
}

function RowCheckbox<Row extends { readonly id: string }>({ row, selection }: CheckboxProps<Row>) {
  const { ids, nameOf, onChange } = selection;
  const isChosen = ids.has(row.id);
  return (
    <Checkbox
      className="above-row-link"
      aria-label={`Select ${nameOf(row)}`}
      checked={isChosen}
      onChange={() => onChange(new Set(isChosen ? [...ids].filter((id) => id !== row.id) : [...ids, row.id]))}
    />
  );
}

interface AllProps<Row> {
  readonly rows: readonly Row[];
  readonly selection: Selection<Row>;
}

function AllCheckbox<Row extends { readonly id: string }>({ rows, selection: { ids, onChange } }: AllProps<Row>) {
  const count = rows.filter(({ id }) => ids.has(id)).length;
  const isAll = count > 0 && count === rows.length;
  return (
    <Checkbox
      aria-label="Select all on this page"
      checked={isAll}
      indeterminate={count > 0 && !isAll}
      onChange={() => onChange(new Set(isAll ? [] : rows.map(({ id }) => id)))}
    />
  );
}
