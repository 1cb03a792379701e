import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";

export interface ProductsSearch extends WithCursor {
  /** Only products for sale, or only the others. */
  readonly isActive?: boolean | undefined;
  readonly search?: string | undefined;
}

/** Ignores unknown values. */
export function productsSearch({ isActive, search, cursor }: Readonly<Record<string, unknown>>): ProductsSearch {
  return chosen({
    isActive: typeof isActive === "boolean" ? isActive : undefined,
    search: searchText(search),
    cursor: searchText(cursor),
  });
}
