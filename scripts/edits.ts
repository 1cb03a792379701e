// Lines of the sources that read otherwise in a copy: the drill takes a safeguard away so, and the twin puts a defect back. The service has no switch
// for either.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A text of a source, which is there exactly once, and what takes its place. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Throws where the text of an edit is not there exactly once: then the line has moved, and what the edit undoes would stay in place unnoticed. */
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
