import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";

export interface CustomersSearch extends WithCursor {
  readonly search?: string | undefined;
}

/** Ignores unknown values. */
export function customersSearch({ search, cursor }: Readonly<Record<string, unknown>>): CustomersSearch {
  return chosen({ search: searchText(search), cursor: searchText(cursor) });
}
