const LAST = 0x10ffff;
const BEFORE_SURROGATES = 0xd7ff;
const AFTER_SURROGATES = 0xe000;

/**
 * The smallest text, by code points, that is greater than every text with this prefix; undefined if there is none. SQLite orders text by its UTF-8
 * bytes, which is the order of code points. So a prefix is a range, for which SQLite can use an index.
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
