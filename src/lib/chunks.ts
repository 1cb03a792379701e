/** Splits a list into chunks of at most `size`, in order; an empty list gives no chunks. */
export function* chunksOf<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}
