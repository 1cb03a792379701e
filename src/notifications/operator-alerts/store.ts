import { getTableColumns, inArray, sql } from "drizzle-orm";
import type { Db } from "../../platform/db/client.ts";
import { alertProof, operatorAlerts } from "../../platform/db/schema/operator-alerts.ts";
import type { AlertProof } from "../deployment-status/status.ts";
import type { Alert } from "./alert.ts";

export function selectAlerts(db: Db) {
  return db.select().from(operatorAlerts);
}

export function upsertAlert(db: Db, alert: Alert) {
  const { cause: _, ...changes } = alert;
  return db.insert(operatorAlerts).values(alert).onConflictDoUpdate({ target: operatorAlerts.cause, set: changes });
}

export function deleteAlerts(db: Db, causes: readonly string[]) {
  return db
    .delete(operatorAlerts)
    .where(inArray(operatorAlerts.cause, sql`(select value from json_each(${JSON.stringify(causes)}))`));
}

/** There is no row before the first change of the proof. */
export function selectProof(db: Db) {
  const { id: _, ...parts } = getTableColumns(alertProof);
  return db.select(parts).from(alertProof);
}

/** Changes only the given parts. */
export function upsertProof(db: Db, parts: Partial<AlertProof>) {
  return db
    .insert(alertProof)
    .values({ id: 1, ...parts })
    .onConflictDoUpdate({ target: alertProof.id, set: parts });
}
