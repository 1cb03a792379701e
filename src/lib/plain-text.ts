/** Invisible characters that can mislead a reader: controls (C0, DEL, C1), line and paragraph separators, direction marks, the byte order mark. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/** The text as one visible line: line breaks and tabs become a space, other control and direction characters are removed. */
export function plainText(text: string): string {
  return text.replaceAll(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, " ").replaceAll(UNSEEN, "");
}
