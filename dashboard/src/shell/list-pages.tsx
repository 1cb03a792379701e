import { Button, Group } from "@mantine/core";

interface Props {
  /** Of the page that is shown; undefined on the newest. */
  readonly cursor: string | undefined;
  readonly nextCursor: string | null;
  /** Undefined: to the newest. */
  readonly onGo: (cursor: string | undefined) => void;
}

/** The way through a list that is read by cursor; nothing for a list of one page. */
export function ListPages({ cursor, nextCursor, onGo }: Props) {
  if (cursor === undefined && nextCursor === null) return null;
  return (
    <Group component="nav" justify="flex-end" aria-label="Pages of the list">
      <Button variant="default" disabled={cursor === undefined} onClick={() => onGo(undefined)}>
        Newest
      </Button>
      <Button variant="default" disabled={nextCursor === null} onClick={() => onGo(nextCursor ?? undefined)}>
        Older
      </Button>
    </Group>
  );
}
