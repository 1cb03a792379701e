// What the address of the list carries: its filters and the page, so that a link shows the same rows.
import { searchText } from "../shell/search-text.ts";

export interface ProductsSearch {
  /** Only products for sale, or only the others. */
  readonly isActive?: boolean | undefined;
  readonly search?: string | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Ignores what the list does not know. */
export function productsSearch({ isActive, search, cursor }: Readonly<Record<string, unknown>>): ProductsSearch {
  const text = searchText(search);
  const page = searchText(cursor);
  return {
    ...(typeof isActive === "boolean" ? { isActive } : {}),
    ...(text === undefined ? {} : { search: text }),
    ...(page === undefined ? {} : { cursor: page }),
  };
}
