import type { Db } from "../../platform/db/client.ts";
import { operatorListOf } from "./operator-body.ts";
import { type OperatorRow, selectOperators } from "./store.ts";

/** Read together with the session, which is not authenticated yet. */
export function operatorReads(db: Db) {
  return [selectOperators(db)] as const;
}

export function listOperators(rows: readonly OperatorRow[]) {
  return operatorListOf(rows.flatMap((row) => (row.sinceMs === null ? [] : [{ ...row, sinceMs: row.sinceMs }])));
}
