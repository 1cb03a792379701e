// The search parameters of a customer's page: the page of the invoice list.
import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";

export function customerSearch({ cursor }: Readonly<Record<string, unknown>>): WithCursor {
  return chosen({ cursor: searchText(cursor) });
}
