/**
 * The fields of `after` that differ from `before`. A form compares with what it was opened with, never with what was read since: what a colleague has
 * changed meanwhile, and this user has not, is not sent, and so stays.
 */
export function changedFields<B extends object>(before: B, after: B): Partial<B> {
  const old = new Map(Object.entries(before).map(([name, value]) => [name, JSON.stringify(value)]));
  const changed = Object.entries(after).filter(([name, value]) => old.get(name) !== JSON.stringify(value));
  return Object.fromEntries(changed) as Partial<B>;
}
