// A file's description in one sentence: the first of its opening comment, or of the comment above the first function that ran and has one.

export function roleOf(source: string, functions: readonly string[]): string {
  const head = /^(?:\/\/.*\n)+/.exec(source)?.[0];
  if (head !== undefined) return firstSentence(head.replace(/^\/\/ ?/gm, ""));
  const texts = functions.map((name) => commentAbove(source, name));
  return firstSentence(texts.find((text) => text !== undefined) ?? commentAbove(source, "\\w+") ?? "");
}

/** The comment above a function, a class, a method or a constant. */
function commentAbove(source: string, name: string): string | undefined {
  const declared = `(?:(?:export|async|function|class|const|override|readonly|static) )*${name}\\b`;
  const found = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*${declared}`).exec(source)?.[1];
  return found?.replace(/^\s*\* ?/gm, "");
}

function firstSentence(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return /^.*?\.(?= [A-Z`]|$)/.exec(line)?.[0] ?? line;
}
