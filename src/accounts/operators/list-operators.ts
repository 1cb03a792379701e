import type { Db } from "../../platform/db/client.ts";
import { operatorListOf } from "./operator-body.ts";
import { type OperatorRow, selectOperators } from "./store.ts";

/** Reads all operators in the storage call that authenticates the session. */
export function operatorReads(db: Db) {
  return [selectOperators(db)] as const;
}

export function listOperators(rows: readonly OperatorRow[]) {
  return operatorListOf(rows.flatMap((row) => (row.sinceMs === null ? [] : [{ ...row, sinceMs: row.sinceMs }])));
}
