/** Remembers the result of `make` for the last text. Use it for a pure function of a setting, which does not change while an isolate lives. */
export function remembering<T>(make: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly made: T } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, made: make(text) };
    return last.made;
  };
}

/** Calls `make` on first use and returns the same value afterwards. If `make` throws, the next use calls it again. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * Awaits `load` on first use and returns the same value afterwards, ignoring later arguments. Keeps the value and never its promise: a promise
 * belongs to the request that made it, and the platform lets no other request wait for it.
 */
export function lazilyLoaded<Args extends readonly unknown[], T>(
  load: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  let loaded: { readonly value: T } | undefined;
  return async (...args) => {
    loaded ??= { value: await load(...args) };
    return loaded.value;
  };
}
