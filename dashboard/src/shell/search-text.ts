// A list's search parameters: its filters and its page, so that a link leads to the same rows.

/** The previous page's `nextCursor`; undefined on the first page. */
export interface WithCursor {
  readonly cursor?: string | undefined;
}

/** A parameter in a page's address, as a string: the router reads a string of digits as a number. */
export function searchText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Removes undefined members, so that an address contains only what was chosen. */
export function chosen<S extends object>(search: S): Partial<S> {
  const found: Partial<S> = {};
  for (const name in search) if (search[name] !== undefined) found[name] = search[name];
  return found;
}
