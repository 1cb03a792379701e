/** At most `limit`: the first of each queue, then the second of each, and so on. */
export function inTurn<T>(queues: readonly (readonly T[])[], limit: number): readonly T[] {
  const taken: T[] = [];
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  for (let rank = 0; rank < longest && taken.length < limit; rank++)
    for (const queue of queues) taken.push(...queue.slice(rank, rank + 1));
  return taken.slice(0, limit);
}
