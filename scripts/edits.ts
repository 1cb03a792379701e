// Lines of the sources that read otherwise in a copy: the drill takes a safeguard away so, and the twin puts a defect back. The service has no switch
// for either.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A string that a source has exactly once, and what replaces it. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Throws unless the text of each edit occurs exactly once: otherwise the line has changed, and what the edit undoes would stay unnoticed. */
export function edited(text: string, { file, from, to }: Edit): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${file} does not say once: ${from}`);
  return `${before}${to}${after}`;
}

/** Edits files below a folder, each as the edits before have left it. */
export function applyEdits(folder: string, edits: readonly Edit[]): void {
  for (const [file, text] of editedTexts(folder, edits)) writeFileSync(join(folder, file), text);
}

/** The files that edits name, as they would be; nothing is written. */
export function editedTexts(folder: string, edits: readonly Edit[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const edit of edits) {
    const text = texts.get(edit.file) ?? readFileSync(join(folder, edit.file), "utf8");
    texts.set(edit.file, edited(text, edit));
  }
  return texts;
}
