/** Remembers what `make` gave for the last text. For a pure function of a setting, which is one text as long as an isolate lives. */
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
 * Awaits `load` on first use and returns the same value afterwards. Keeps the value and never its promise: a promise belongs to the request that made
 * it, and the platform lets no other request wait for it.
 */
export function lazilyLoaded<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: { readonly value: T } | undefined;
  return async () => {
    loaded ??= { value: await load() };
    return loaded.value;
  };
}
