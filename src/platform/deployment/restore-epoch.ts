// RESTORE_EPOCH names the last restore of the database to an earlier minute (docs/operations/restore.md): a number that increases with each restore,
// and the minute.
import { err, ok, type Result } from "../../lib/result.ts";
import { isoTime } from "../../lib/time.ts";

export interface RestoreEpoch {
  /** 1 for the first restore of the deployment. */
  readonly number: number;
  /** The minute to which the database was restored. */
  readonly restoredToMs: number;
}

/** The stage of an import. CLOSED: revoked keys may still work. IMPORTING: lost invoices are not recovered yet. */
export type RestoreStage = "CLOSED" | "IMPORTING" | "OPEN";

const MOST = 9_999;
const EPOCH = /^(\d{1,4})@(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)$/;

/** Parses RESTORE_EPOCH; undefined if it is empty: the database was never restored. The error is a sentence for the operator. */
export function parseRestoreEpoch(text: string | undefined): Result<RestoreEpoch | undefined, string> {
  const given = (text ?? "").trim();
  if (given === "") return ok(undefined);
  const [, digits = "", minute = ""] = EPOCH.exec(given) ?? [];
  const number = Number(digits);
  const restoredToMs = Date.parse(minute);
  if (number < 1 || number > MOST || !Number.isFinite(restoredToMs)) {
    return err("RESTORE_EPOCH must be a number and the restored minute in UTC, such as 1@2026-11-23T17:00:00Z");
  }
  return ok({ number, restoredToMs });
}

/** In the form that `parseRestoreEpoch` parses. */
export function printRestoreEpoch({ number, restoredToMs }: RestoreEpoch): string {
  return `${number}@${isoTime(restoredToMs)}`;
}

/** More events than an invoice ever has. */
const SKIPPED = 1_000_000;

/**
 * Event sequences above this floor are greater than any used before the restore. Consumers ignore an event whose sequence is not above the last one
 * that they saw, and they saw events that the database has lost.
 */
export function sequenceFloor(epoch: RestoreEpoch | undefined): number {
  return (epoch?.number ?? 0) * SKIPPED;
}

/** The sequence of an invoice's next event. */
export function nextSequence(newest: number, floor: number | undefined): number {
  return Math.max(newest, floor ?? 0) + 1;
}
