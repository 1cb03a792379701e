import { searchText } from "../shell/search-text.ts";

export interface CustomerSearch {
  /** Of the customer's invoices: the `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export function customerSearch({ cursor }: Readonly<Record<string, unknown>>): CustomerSearch {
  const page = searchText(cursor);
  return page === undefined ? {} : { cursor: page };
}
