/** A list in pieces of at most `size`, in its order; none of an empty one. */
export function* piecesOf<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}
