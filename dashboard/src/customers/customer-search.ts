// Which of the customer's invoices are listed.
import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";

export function customerSearch({ cursor }: Readonly<Record<string, unknown>>): WithCursor {
  return chosen({ cursor: searchText(cursor) });
}
