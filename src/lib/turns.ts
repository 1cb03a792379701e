/** At most `limit`: everybody's longest waiting first, then everybody's second, and so on, so that no merchant takes another's place. */
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
  // The sort is stable: within a rank they stay by how long they waited.
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, limit)
    .map(({ each }) => each);
}
