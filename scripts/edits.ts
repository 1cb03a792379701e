// Changes lines in a copy of the sources: the drill removes a safeguard this way, and the twin reintroduces a defect. The service has no switch for
// either.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A string that occurs in a source exactly once, and its replacement. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Throws unless the text of each edit occurs exactly once: otherwise the source has changed, and the edit would no longer have its effect. */
export function edited(text: string, { file, from, to }: Edit): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${file} does not say once: ${from}`);
  return `${before}${to}${after}`;
}

/** Edits files below a folder, each edit on the result of the previous ones. */
export function applyEdits(folder: string, edits: readonly Edit[]): void {
  for (const [file, text] of editedTexts(folder, edits)) writeFileSync(join(folder, file), text);
}

/** The contents of the edited files; nothing is written. */
export function editedTexts(folder: string, edits: readonly Edit[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const edit of edits) {
    const text = texts.get(edit.file) ?? readFileSync(join(folder, edit.file), "utf8");
    texts.set(edit.file, edited(text, edit));
  }
  return texts;
}
