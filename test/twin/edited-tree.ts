// A copy of the working tree with some lines changed, deployed from its own folder.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { applyEdits, type Edit } from "../../scripts/edits.ts";
import { copyOurs } from "../upgrade/previous-release.ts";
import { ROOT } from "./deploys.ts";

export class EditedTree {
  readonly #copy = copyOurs();
  #edits: readonly Edit[] = [];

  constructor() {
    // The runtime's own hook ends the process at a signal, without waiting for pending work.
    process.once("exit", this.#copy.remove);
  }

  get folder(): string {
    return this.#copy.folder;
  }

  /** Undoes the previous edits and applies these. */
  become(edits: readonly Edit[]): void {
    for (const { file } of this.#edits) copyFileSync(join(ROOT, file), join(this.folder, file));
    this.#edits = edits;
    applyEdits(this.folder, edits);
  }

  remove(): void {
    process.removeListener("exit", this.#copy.remove);
    this.#copy.remove();
  }
}
