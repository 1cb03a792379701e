/**
 * The fields of `after` that differ from `before`, including nested fields. A form compares with its initial values, never with later reads: a
 * field that only a colleague changed meanwhile is not sent, so the colleague's change stays.
 */
export function changedFields<B extends object>(before: B, after: B): Partial<B> {
  const old = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(old.get(name)) !== JSON.stringify(value),
  );
  const part = ([name, value]: readonly [string, unknown]) => {
    const was = old.get(name);
    return [name, isObject(was) && isObject(value) ? changedFields(was, value) : value] as const;
  };
  return Object.fromEntries(changed.map(part)) as Partial<B>;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
