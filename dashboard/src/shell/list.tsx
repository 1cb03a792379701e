import { Button, Group } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Read } from "./read.tsx";

interface Answer<Row> {
  readonly data: readonly Row[];
  readonly nextCursor: string | null;
}

export interface ListProps<Row> {
  readonly query: UseQueryResult<Answer<Row>, Error>;
  /** Cursor of the shown page; undefined for the newest. */
  readonly cursor: string | undefined;
  /** Called with undefined for the newest rows. */
  readonly onGo: (cursor: string | undefined) => void;
  /** Shown instead of the rows if there are none. */
  readonly empty: ReactNode;
  /** `isStale`: whether other rows are loading. */
  readonly children: (rows: readonly Row[], isStale: boolean) => ReactNode;
}

/** A list paged by cursor, with its navigation. */
export function List<Row>({ query, cursor, onGo, empty, children }: ListProps<Row>) {
  return (
    <Read query={query}>
      {({ data, nextCursor }) => (
        <>
          {data.length === 0 ? empty : children(data, query.isPlaceholderData)}
          <Pages cursor={cursor} nextCursor={nextCursor} onGo={onGo} />
        </>
      )}
    </Read>
  );
}

type PagesProps = Pick<ListProps<unknown>, "cursor" | "onGo"> & Pick<Answer<unknown>, "nextCursor">;

/** The buttons between pages; nothing for a list with a single page. */
function Pages({ cursor, nextCursor, onGo }: PagesProps) {
  if (cursor === undefined && nextCursor === null) return null;
  return (
    <Group component="nav" justify="flex-end" aria-label="Pagination">
      <Button variant="default" disabled={cursor === undefined} onClick={() => onGo(undefined)}>
        Newest
      </Button>
      <Button variant="default" disabled={nextCursor === null} onClick={() => onGo(nextCursor ?? undefined)}>
        Older
      </Button>
    </Group>
  );
}
