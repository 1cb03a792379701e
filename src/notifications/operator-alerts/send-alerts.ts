// Run by the cron, and by any request that notices that the cron has stopped: emails the operators. Each email is stored first, so it may be lost, but is never
// repeated within the hour.
import { selectOperators } from "../../accounts/operators/store.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { readVitals } from "../deployment-status/read-status.ts";
import { reasonsOf, type StatusSettings } from "../deployment-status/status.ts";
import { planAlerts } from "./alert.ts";
import { alertMail } from "./alert-mail.ts";
import { deleteAlerts, selectAlerts, upsertAlert } from "./store.ts";

export interface AlertDependencies {
  readonly db: Db;
  readonly d1: D1Database;
  readonly sleep: Sleep;
  readonly nowMs: number;
  readonly settings: StatusSettings;
  /** Undefined if mail is not configured: then nothing is sent or remembered. */
  readonly mailer: Mailer | undefined;
  readonly publicUrl: string;
}

/** One run at a time, under the lease of its job. */
export async function sendAlerts(deps: AlertDependencies): Promise<Left> {
  const { db, nowMs, mailer, publicUrl } = deps;
  if (mailer === undefined) return "nothing";
  const vitals = await readVitals(deps.d1, deps.sleep);
  // Without storage neither the operators nor the last emails are known.
  if (vitals === undefined) return "nothing";
  const reasons = reasonsOf(vitals, deps.settings, nowMs);
  const [known, operators] = await batch(db, [selectAlerts(db), selectOperators(db)]);
  const { changed, forgotten, failing, over } = planAlerts(known, reasons, nowMs);
  const statements = [
    ...changed.map((alert) => upsertAlert(db, alert)),
    ...(forgotten.length === 0 ? [] : [deleteAlerts(db, forgotten)]),
  ];
  if (statements.length > 0) await batch(db, statements);
  if (failing.length + over.length === 0) return "nothing";
  for (const { email } of operators) await mailer.post(alertMail(email, { failing, over, publicUrl }));
  return "nothing";
}
