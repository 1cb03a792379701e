// A page that shows one list of the merchant: the rows, or a message if there are none. The filters and the list's page are in the address.
import { Button, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { EmptyList } from "./empty-list.tsx";
import { Icon } from "./icons.tsx";
import { List, type ListProps } from "./list.tsx";
import { PageHeader } from "./page-header.tsx";
import type { WithCursor } from "./search-text.ts";

type Go<S> = (to: { readonly search: (last: Partial<S>) => Partial<S>; readonly replace?: boolean }) => unknown;

export interface Address<S> {
  /** The chosen filters and page. */
  readonly search: S;
  /** Changes filters; the list then restarts at the first page. */
  readonly filter: (change: Partial<S>) => void;
  /** Goes to another page with the same filters. */
  readonly turn: (cursor: string | undefined) => void;
  /** Shows the list with exactly these filters. */
  readonly show: (search: Partial<S>) => void;
}

/** `go` is `navigate`, bound to the page's own route. */
export function addressOf<S extends WithCursor>(search: S, go: Go<S>): Address<S> {
  const moved = (last: Partial<S>, cursor: string | undefined) => ({ ...last, cursor });
  return {
    search,
    filter: (change) => void go({ search: (last) => ({ ...moved(last, undefined), ...change }), replace: true }),
    turn: (cursor) => void go({ search: (last) => moved(last, cursor) }),
    show: (only) => void go({ search: () => only }),
  };
}

interface Props<Row> extends Pick<ListProps<Row>, "query" | "children"> {
  readonly title: string;
  readonly subtitle: string;
  readonly actions: ReactNode;
  /** Shown above the rows. */
  readonly filters: ReactNode;
  readonly address: Pick<Address<WithCursor>, "search" | "turn" | "show">;
  /** Shown if there is no row and no filter. */
  readonly none: ReactNode;
  /** Shown if no row matches the filters: the message, and the label of the button that shows all rows. */
  readonly unmatched: { readonly title: string; readonly all: string; readonly about?: string };
  /** Whether something was found elsewhere. If so, an empty list shows no message. */
  readonly isFoundElsewhere?: boolean;
}

export function ListPage<Row>({ query, children, title, subtitle, actions, filters, address, ...empty }: Props<Row>) {
  const { none, unmatched, isFoundElsewhere = false } = empty;
  const isFiltered = Object.keys(address.search).length > 0;
  const noMatch = (
    <EmptyList
      title={unmatched.title}
      action={
        <Button variant="default" onClick={() => address.show({})}>
          {unmatched.all}
        </Button>
      }
    >
      {unmatched.about}
    </EmptyList>
  );
  return (
    <>
      <PageHeader title={title} subtitle={subtitle} actions={actions} />
      <Stack>
        {filters}
        <List
          query={query}
          cursor={address.search.cursor}
          onGo={address.turn}
          empty={!isFoundElsewhere && (isFiltered ? noMatch : none)}
        >
          {children}
        </List>
      </Stack>
    </>
  );
}

/** The button next to a page's title that creates what the page lists. */
export function NewButton({ onClick, children }: { readonly onClick: () => void; readonly children: string }) {
  return (
    <Button leftSection={<Icon name="plus" />} onClick={onClick}>
      {children}
    </Button>
  );
}
