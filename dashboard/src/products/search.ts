import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";

export interface ProductsSearch extends WithCursor {
  /** True: only products for sale. False: only products that are not for sale. */
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
