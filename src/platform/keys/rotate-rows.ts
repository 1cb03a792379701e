// One stretch of a table: every row under an older key is verified with that key and renewed under the newest one. A row that does not verify is
// never signed again: it was altered, and stays hidden or is frozen. A row that changes between the read and the write is left to the next walk.
import { isMacOf, type Keyring, macText } from "../../lib/keyring.ts";
import type { Report } from "../../lib/log.ts";
import { seal, unseal } from "../../lib/seal.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { batch } from "../db/batch.ts";
import type { Db } from "../db/client.ts";
import type { Statement } from "../db/statement.ts";
import { DAMAGED, type KeyedRows, type MacRows, type SealedRows } from "./keyed-rows.ts";
import { replaceMacs, replaceSeals, type Stretch, selectEnd, selectMacs, selectSeals } from "./store.ts";

export interface RowDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly report: Report;
  /** Freezes the altered rows of a kind, for a kind that `freezes`. Leaves intact rows unchanged. */
  freeze(ids: readonly string[]): Promise<void>;
}

interface PlannedStretch {
  /** The rowid after which the next stretch begins; undefined at the end of the table. */
  readonly next: number | undefined;
  /** The key ids of the rows read, one for each row. */
  readonly met: readonly string[];
  /** Empty if there is nothing to write. */
  readonly statements: readonly Statement[];
}

interface Of {
  readonly rows: KeyedRows;
  /** Newest first. */
  readonly ring: Keyring;
  readonly stretch: Omit<Stretch, "nowMs">;
}

/** Reads a stretch and plans its changes; freezes altered rows at once if their kind can be frozen. */
export async function planStretch(deps: RowDependencies, { rows, ring, stretch }: Of): Promise<PlannedStretch> {
  return rows.keyring === "ROW_MAC_KEY"
    ? planMacs(deps, { rows, ring, stretch })
    : planSeals(deps, { rows, ring, stretch });
}

async function planMacs(deps: RowDependencies, { rows, ring, stretch }: Of & { readonly rows: MacRows }) {
  const { db, nowMs } = deps;
  const [[end], read] = await batch(db, [selectEnd(db, rows, stretch), selectMacs(db, rows, { ...stretch, nowMs })]);
  const damaged: string[] = [];
  const changes = read.flatMap(({ rowNumber, mac, macKeyId, cells: json }) => {
    const cells = parseJson(json);
    const text = rows.textOf(cells);
    const was = { mac, macKeyId };
    if (isMacOf(ring, text, was)) return { rowNumber, was, ...macText(ring, text) };
    damaged.push(String(cells[rows.columns[0] ?? ""]));
    return rows.freezes ? [] : { rowNumber, was, mac, macKeyId: `${DAMAGED}${macKeyId}` };
  });
  reportDamaged(deps, rows, damaged);
  if (rows.freezes && damaged.length > 0) await deps.freeze(damaged);
  const statements = changes.length === 0 ? [] : [replaceMacs(db, rows, changes)];
  return { next: end?.end, met: read.map(({ macKeyId }) => macKeyId), statements };
}

async function planSeals(deps: RowDependencies, { rows, ring, stretch }: Of & { readonly rows: SealedRows }) {
  const { db, nowMs } = deps;
  const [[end], read] = await batch(db, [selectEnd(db, rows, stretch), selectSeals(db, rows, { ...stretch, nowMs })]);
  const damaged: string[] = [];
  const changes = await Promise.all(
    read.map(async ({ rowNumber, id, sealed: was }) => {
      const context = rows.contextOf(id);
      const text = await unseal(ring, context, was);
      if (text === undefined) damaged.push(id);
      return { rowNumber, was, sealed: text === undefined ? `${DAMAGED}${was}` : await seal(ring, context, text) };
    }),
  );
  reportDamaged(deps, rows, damaged);
  const statements = changes.length === 0 ? [] : [replaceSeals(db, rows, changes)];
  return { next: end?.end, met: read.map(({ keyId }) => keyId), statements };
}

function reportDamaged({ report }: RowDependencies, { kind }: KeyedRows, ids: readonly string[]): void {
  for (const id of ids) report("a row was altered in the database, and is not renewed under another key", { kind, id });
}
