import { inArray, sql } from "drizzle-orm";
import type { Db } from "../../platform/db/client.ts";
import { operatorAlerts } from "../../platform/db/schema/operator-alerts.ts";
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
