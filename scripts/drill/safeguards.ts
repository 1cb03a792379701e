// The safeguards of a restore that the drill takes away, one at a time, to show that it notices. The service has no switch for it: the drill serves
// a copy of the sources in which the lines of the safeguard read otherwise.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A text of a source, which is there exactly once, and what takes its place. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const SOURCES = "src";
const MAIN = "app/worker.ts";
/** Ignored by git. In a fresh clone it does not exist yet. */
const FOLDER = ".edgetill";

/** The edits that undo each safeguard. */
export const SAFEGUARDS = {
  /** Objects register themselves, so an import finds those of the lost period. */
  directory: [{ file: "platform/directory/own-entry.ts", from: "await directory.enter(name, atMs);", to: "" }],
  /** Revocations are also stored outside the database. */
  revocations: [
    { file: "platform/db/batch.ts", from: "if (revocations.length > 0) await keep?.(revocations);", to: "void keep;" },
  ],
  /** No request is answered before the import has repeated the revocations. */
  "epoch-gate": [
    {
      file: "platform/deployment/read-deployment.ts",
      from: 'if (number <= (ended.get(database) ?? 0)) return ok("OPEN");',
      to: 'return ok("OPEN");',
    },
  ],
  /** Events of the restored deployment do not repeat the lost period's numbers. */
  "sequence-skip": [
    {
      file: "commerce/invoices/dependencies.ts",
      from: "sequenceFloor: floorOf(env.RESTORE_EPOCH),",
      to: "sequenceFloor: 0,",
    },
  ],
  /** Networks are reread from the restored minute on. */
  cursor: [
    { file: "commerce/restores/run-restore.ts", from: "...lowerCursors(db, restoredToMs),", to: "" },
    { file: "commerce/restores/recover-place.ts", from: "...lowerCursors(db, restoredToMs, network)", to: "" },
    {
      file: "commerce/restores/recover-place.ts",
      from: "[beginWatch(db, network, restoredToMs)]",
      to: "[beginWatch(db, network, nowMs)]",
    },
  ],
} as const satisfies Readonly<Record<string, readonly Edit[]>>;

export type Safeguard = keyof typeof SAFEGUARDS;

export function isSafeguard(name: string | undefined): name is Safeguard {
  return name !== undefined && Object.hasOwn(SAFEGUARDS, name);
}

/** Throws where the text of an edit is not there exactly once: then the safeguard has moved, and would stay in place unnoticed. */
export function edited(text: string, { file, from, to }: Edit): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${file} does not say once: ${from}`);
  return `${before}${to}${after}`;
}

export interface Variant {
  /** The Worker's script, for wrangler. */
  readonly main: string;
  remove(): void;
}

/** Copies the sources, without the safeguard, into a folder below the root, so that their packages are found. */
export function writeVariant(without: Safeguard): Variant {
  mkdirSync(FOLDER, { recursive: true });
  const folder = mkdtempSync(join(FOLDER, "drill-"));
  cpSync(SOURCES, join(folder, SOURCES), { recursive: true });
  for (const edit of SAFEGUARDS[without]) {
    const file = join(folder, SOURCES, edit.file);
    writeFileSync(file, edited(readFileSync(file, "utf8"), edit));
  }
  return { main: join(folder, SOURCES, MAIN), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
