/** A text in a page's address. The router reads a text of digits as a number. */
export function searchText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
