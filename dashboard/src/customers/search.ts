// What the address of the list carries: what is searched for and the page, so that a link shows the same rows.
import { searchText } from "../shell/search-text.ts";

export interface CustomersSearch {
  readonly search?: string | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Ignores what the list does not know. */
export function customersSearch({ search, cursor }: Readonly<Record<string, unknown>>): CustomersSearch {
  const text = searchText(search);
  const page = searchText(cursor);
  return { ...(text === undefined ? {} : { search: text }), ...(page === undefined ? {} : { cursor: page }) };
}
