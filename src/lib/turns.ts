/** At most `limit` items: the first of each queue, then the second of each, and so on. */
export function inTurn<T>(queues: readonly (readonly T[])[], limit: number): readonly T[] {
  const taken: T[] = [];
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  for (let rank = 0; rank < longest && taken.length < limit; rank++)
    for (const queue of queues) taken.push(...queue.slice(rank, rank + 1));
  return taken.slice(0, limit);
}

/** At most `limit` items: each merchant's oldest, then each merchant's second, and so on, so that no merchant delays another. */
export function inTurns<T extends { readonly merchantId: string; readonly dueMs: number }>(
  due: readonly T[],
  limit: number,
): readonly T[] {
  const ranks = new Map<string, number>();
  const ranked = due
    .toSorted((a, b) => a.dueMs - b.dueMs)
    .map((each) => {
      const rank = ranks.get(each.merchantId) ?? 0;
      ranks.set(each.merchantId, rank + 1);
      return { each, rank };
    });
  // The sort is stable: within a rank the oldest come first.
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, limit)
    .map(({ each }) => each);
}
