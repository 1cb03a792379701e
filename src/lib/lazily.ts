/** Calls `make` on first use and returns the same value afterwards. If `make` throws, the next use calls it again. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
