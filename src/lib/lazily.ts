/** Makes a value when it is first asked for, and gives the same one from then on. A `make` that throws is called again next time. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
