import { Button, Divider, Stack, Text } from "@mantine/core";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { Fragment, type ReactNode } from "react";
import { Read } from "./read.tsx";

interface Props<Row> {
  readonly query: UseInfiniteQueryResult<readonly Row[], Error>;
  /** The message for an empty list. */
  readonly none?: string;
  /** Label of the button that loads more rows. */
  readonly more?: string;
  readonly children: (row: Row) => ReactNode;
}

/** A growing list: its rows so far, and a button for more. */
export function GrowingList<Row extends { readonly id: string }>({ query, none, more, children }: Props<Row>) {
  return (
    <Read query={query}>
      {(rows) => (
        <Stack>
          {rows.length === 0 && none !== undefined && <Text c="dimmed">{none}</Text>}
          <Divided rows={rows}>{children}</Divided>
          <MoreButton query={query}>{more}</MoreButton>
        </Stack>
      )}
    </Read>
  );
}

/** Not shown once all rows are loaded. */
export function MoreButton({
  query,
  children = "Show more",
}: Pick<Props<unknown>, "query"> & { readonly children?: string }) {
  if (!query.hasNextPage) return null;
  return (
    <Button variant="subtle" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {children}
    </Button>
  );
}

interface DividedProps<Row> {
  readonly rows: readonly Row[];
  readonly children: (row: Row) => ReactNode;
}

/** Rows with a line between them. */
export function Divided<Row extends { readonly id: string }>({ rows, children }: DividedProps<Row>) {
  return rows.map((row, place) => (
    <Fragment key={row.id}>
      {place > 0 && <Divider />}
      {children(row)}
    </Fragment>
  ));
}
