/** The sign-in page's search parameter: where to go afterwards, a path on this origin. */
export function signInSearch(search: Readonly<Record<string, unknown>>): { readonly returnTo?: string } {
  const { returnTo } = search;
  return typeof returnTo === "string" && isOwnPath(returnTo) ? { returnTo } : {};
}

/** Not `//host` and not `/\host`, which browsers treat as another origin. */
function isOwnPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text);
}
