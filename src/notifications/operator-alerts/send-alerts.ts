// Run by the cron, and by any request that notices that the cron has stopped: alerts the operators by email and by webhook. Each alert is stored
// before it is sent, so it may be lost, but is never repeated within the hour. Neither channel waits for the other.
import { selectOperators } from "../../accounts/operators/store.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Left } from "../../platform/jobs/left.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { postAll } from "../../platform/mail/post-all.ts";
import { readVitals } from "../deployment-status/read-status.ts";
import { reasonsOf, type StatusSettings } from "../deployment-status/status.ts";
import { planAlerts } from "./alert.ts";
import { alertMail } from "./alert-mail.ts";
import { type AlertMessage, alertMessage } from "./alert-webhook.ts";
import { deleteAlerts, selectAlerts, upsertAlert } from "./store.ts";

/** The operators' receiver. */
export interface AlertPoster {
  /** Accepts an alert, which is sent in the background with at most three attempts. A failure is logged. */
  post(message: AlertMessage): void;
}

export interface AlertDependencies {
  readonly db: Db;
  readonly d1: D1Database;
  readonly sleep: Sleep;
  readonly nowMs: number;
  readonly settings: StatusSettings;
  /** Each is undefined if it is not configured. If neither is configured, nothing is sent or stored. */
  readonly mailer: Mailer | undefined;
  readonly poster: AlertPoster | undefined;
  readonly publicUrl: string;
  newMessageId(): string;
}

/** Must be called under the lease of its job, which allows one run at a time. */
export async function sendAlerts(deps: AlertDependencies): Promise<Left> {
  const { db, nowMs, mailer, poster, publicUrl } = deps;
  if (mailer === undefined && poster === undefined) return "nothing";
  const vitals = await readVitals(deps.d1, deps.sleep);
  // If storage does not answer, neither the operators nor the last alerts are known.
  if (vitals === undefined) return "nothing";
  const reasons = reasonsOf(vitals, deps.settings, nowMs);
  const [known, operators] = await batch(db, [selectAlerts(db), selectOperators(db)]);
  const plan = planAlerts(known, reasons, nowMs);
  const { changed, forgotten, failing, over } = plan;
  const statements = [
    ...changed.map((alert) => upsertAlert(db, alert)),
    ...(forgotten.length === 0 ? [] : [deleteAlerts(db, forgotten)]),
  ];
  if (statements.length > 0) await batch(db, statements);
  if (failing.length + over.length === 0) return "nothing";
  poster?.post(alertMessage(plan, { id: deps.newMessageId(), nowMs, publicUrl }));
  if (mailer !== undefined)
    await postAll(mailer, "the deployment", operators, ({ email }) => alertMail(email, { ...plan, publicUrl }));
  return "nothing";
}
