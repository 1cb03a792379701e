// One step in reading a merchant: a page of a table, or all of the small tables that are read at the start or at the end. Each step is one batch, and
// therefore a consistent snapshot.
import { batch } from "../db/batch.ts";
import type { Db } from "../db/client.ts";
import type { ExportedPart } from "./manifest.ts";
import {
  type Page,
  type RowKey,
  type StoredRow,
  selectCompanions,
  selectPageEnd,
  selectPageRows,
  selectWhole,
} from "./store.ts";
import { CLOSING, OPENING, WALKS, type Walk, type Whole } from "./tables.ts";

/** The progress of a merchant's export. */
export interface Progress {
  readonly merchantId: string;
  readonly begunAtMs: number;
  /** 0: the tables read at the start; then one stage per table that is read by pages; the last stage: the tables read at the end. */
  readonly stage: number;
  readonly after: RowKey | null;
  /** How many parts each table has. */
  readonly numbers: Readonly<Record<string, number>>;
  readonly parts: readonly ExportedPart[];
}

interface Step {
  /** The rows by table, in the order in which they are to be inserted. */
  readonly rows: readonly (readonly [string, readonly StoredRow[]])[];
  readonly next: Progress;
  readonly isLast: boolean;
  readonly statements: number;
}

export function beginMerchant(merchantId: string, nowMs: number): Progress {
  return { merchantId, begunAtMs: nowMs, stage: 0, after: null, numbers: {}, parts: [] };
}

export async function readStep(db: Db, from: Progress): Promise<Step> {
  if (from.stage === 0) return readWhole(db, from, OPENING);
  const walk = WALKS[from.stage - 1];
  return walk === undefined ? readWhole(db, from, CLOSING) : readPage(db, from, walk);
}

async function readWhole(db: Db, from: Progress, tables: readonly Whole[]): Promise<Step> {
  const found = await batch(
    db,
    tables.map((each) => selectWhole(db, each, from.merchantId)),
  );
  const rows = tables.map(({ table }, at) => [table, found[at] ?? []] as const);
  return { rows, next: nextStage(from), isLast: tables === CLOSING, statements: tables.length };
}

async function readPage(db: Db, from: Progress, walk: Walk): Promise<Step> {
  const page: Page = { merchantId: from.merchantId, cutMs: from.begunAtMs, after: from.after, limit: walk.limit };
  const companions = selectCompanions(db, walk, page);
  const [[end], own, ...others] = await batch(db, [
    selectPageEnd(db, walk, page),
    selectPageRows(db, walk, page),
    ...companions.map(([, statement]) => statement),
  ]);
  const rows = [[walk.table, own] as const, ...companions.map(([table], at) => [table, others[at] ?? []] as const)];
  const isFull = end?.page_rows === walk.limit;
  const after = isFull ? walk.key.map((_, at) => end[`k${at}`] ?? "") : null;
  const next = isFull ? { ...from, after } : nextStage(from);
  return { rows, next, isLast: false, statements: 2 + companions.length };
}

function nextStage(from: Progress): Progress {
  return { ...from, stage: from.stage + 1, after: null };
}
