const LAST = 0x10ffff;
const BEFORE_SURROGATES = 0xd7ff;
const AFTER_SURROGATES = 0xe000;

/**
 * The least text, by code points, that is greater than every text which begins with `prefix`; undefined when there is none. SQLite orders
 * text by the bytes of UTF-8, which is the order of code points: so a prefix is a range, and an index finds it.
 */
export function prefixEnd(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const code = last.codePointAt(0) ?? 0;
    if (code === LAST) continue;
    const next = code === BEFORE_SURROGATES ? AFTER_SURROGATES : code + 1;
    return points.join("") + String.fromCodePoint(next);
  }
  return undefined;
}
