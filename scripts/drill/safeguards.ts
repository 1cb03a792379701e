// The safeguards of a restore that the drill removes, one at a time, to show that it detects each removal. The service has no switch for this: the
// drill serves a copy of the sources in which the safeguard's lines are changed.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { applyEdits, type Edit } from "../edits.ts";

const SOURCES = "src";
const MAIN = "app/worker.ts";
/** Ignored by git. In a fresh clone it does not exist yet. */
const FOLDER = ".edgetill";

/** The edits that remove each safeguard. */
export const SAFEGUARDS = {
  /** Objects register themselves, so that an import finds the objects from the lost period. */
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
  /** Networks are read again from the restored minute on. */
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
  applyEdits(join(folder, SOURCES), SAFEGUARDS[without]);
  return { main: join(folder, SOURCES, MAIN), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
