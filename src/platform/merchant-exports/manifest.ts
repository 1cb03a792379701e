// Proof that a merchant's export is complete. It is written last, so an export without a manifest is not complete. The import reads it first.
import { DAY_MS, HOUR_MS, isoTime } from "../../lib/time.ts";

export interface ExportedPart {
  readonly key: string;
  readonly table: string;
  readonly rows: number;
  /** The size of the object, compressed. */
  readonly bytes: number;
  readonly sha256: string;
}

export interface Manifest {
  readonly format: 1;
  /** The release that wrote the manifest. */
  readonly release: string;
  readonly date: string;
  readonly merchantId: string;
  /** When the merchant's export began. Invoices created later are not in it. */
  readonly begunAt: string;
  readonly endedAt: string;
  /** Number of lines in all parts of each table. A row may occur twice; the later line counts. */
  readonly rows: Readonly<Record<string, number>>;
  /** In the order in which they were read. */
  readonly parts: readonly ExportedPart[];
}

/** All merchants in a night's export; written when the last one is done. */
export interface NightIndex {
  readonly format: 1;
  readonly date: string;
  readonly merchants: readonly { readonly merchantId: string; readonly manifest: string; readonly sha256: string }[];
  /** Merchants that could not be exported. */
  readonly failed: readonly string[];
}

/** The prefix of all keys. */
export const PREFIX = "exports/";
/** The progress of the job. */
export const STATE_KEY = `${PREFIX}state.json`;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export const folderOf = (date: string, merchantId: string) => `${PREFIX}${date}/${merchantId}/`;
export const partKey = (folder: string, table: string, number: number) => `${folder}${table}-${number}.jsonl.gz`;
export const manifestKey = (folder: string) => `${folder}manifest.json`;
export const indexKey = (date: string) => `${PREFIX}${date}/merchants.json`;

/** Exports begin at this hour, UTC. */
const BEGINS_AT_HOUR = 2;

/** The date of the last night that has begun. */
export function nightOf(nowMs: number): string {
  return isoTime(nowMs - BEGINS_AT_HOUR * HOUR_MS).slice(0, 10);
}

/** The folders of nights older than `keepDays` on `date`; ignores anything else in the bucket. */
export function oldNights(folders: readonly string[], date: string, keepDays: number): readonly string[] {
  const first = isoTime(Date.parse(date) - keepDays * DAY_MS).slice(0, 10);
  return folders.filter((folder) => {
    const night = folder.slice(PREFIX.length, -1);
    return DATE.test(night) && night < first;
  });
}

export function rowsOf(parts: readonly ExportedPart[]): Readonly<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const part of parts) rows[part.table] = (rows[part.table] ?? 0) + part.rows;
  return rows;
}
