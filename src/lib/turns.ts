/** At most `limit` items: the first of each queue, then the second of each, and so on. */
export function inTurn<T>(queues: readonly (readonly T[])[], limit: number): readonly T[] {
  const taken: T[] = [];
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  for (let rank = 0; rank < longest && taken.length < limit; rank++)
    for (const queue of queues) taken.push(...queue.slice(rank, rank + 1));
  return taken.slice(0, limit);
}

/** The first item of each key, then the second of each, and so on; items of equal rank keep the given order. */
export function takingTurns<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const turns = new Map<string, number>();
  const numbered = items.map((item) => {
    const key = keyOf(item);
    const turn = turns.get(key) ?? 0;
    turns.set(key, turn + 1);
    return { item, turn };
  });
  // The sort is stable.
  return numbered.toSorted((a, b) => a.turn - b.turn).map(({ item }) => item);
}

/** At most `limit` items: the oldest of each merchant, then the second oldest of each, and so on, so that no merchant delays another. */
export function inTurns<T extends { readonly merchantId: string; readonly dueMs: number }>(
  due: readonly T[],
  limit: number,
): readonly T[] {
  const oldestFirst = due.toSorted((a, b) => a.dueMs - b.dueMs);
  return takingTurns(oldestFirst, ({ merchantId }) => merchantId).slice(0, limit);
}
