// The queries for the deployment's status. Plain SQL, because drizzle drops the size of the database, which D1 reports with its answers. Each
// statement reads an index entry for each network, endpoint or merchant that has something due, and counts `MOST_COUNTED` rows at most. `?1` is the
// current time.
import type { JsonOf } from "../../lib/typed-json.ts";
import { MANY_FAILURES } from "../webhooks/retry-schedule.ts";
import { type AlertProof, MOST_COUNTED } from "./status.ts";

/** Limits the loops over endpoints and merchants with something due. */
const MOST_WALKED = 5_000;

/** All rows of a query as JSON in one row, so that one batch of D1 has rows of one type. */
export interface Facts<Row> {
  readonly facts: JsonOf<readonly Row[]>;
}

function factsOf(columns: readonly string[], query: string): string {
  return `SELECT json_group_array(json_object(${columns.map((name) => `'${name}', ${name}`).join(", ")})) AS facts FROM (${query})`;
}

export interface CursorRow {
  readonly network: string;
  readonly height: number | null;
  readonly tipHeight: number | null;
  readonly passedMs: number;
  readonly lastMovedAtMs: number;
  readonly tickedAtMs: number | null;
  readonly degradedSinceMs: number | null;
  readonly isResting: number;
  readonly quarantined: number;
  readonly quarantinedSinceMs: number | null;
  readonly pausedAtMs: number | null;
  /** JSON of `WatchProgress.sources`; null if there is none. */
  readonly sources: string | null;
}

const CURSOR_COLUMNS = [
  "network",
  "height",
  "tipHeight",
  "passedMs",
  "lastMovedAtMs",
  "tickedAtMs",
  "degradedSinceMs",
  "isResting",
  "quarantined",
  "quarantinedSinceMs",
  "pausedAtMs",
  "sources",
];

/** How far each network that was ever watched has been read. */
export const SELECT_CURSORS = factsOf(
  CURSOR_COLUMNS,
  `SELECT network, height, tip_height AS tipHeight, passed_ms AS passedMs, last_moved_at_ms AS lastMovedAtMs,
  ticked_at_ms AS tickedAtMs, degraded_since_ms AS degradedSinceMs, is_resting AS isResting, paused_at_ms AS pausedAtMs,
  iif(json_valid(progress), progress ->> '$.sources', NULL) AS sources,
  (SELECT count(*) FROM stuck_addresses stuck WHERE stuck.network = cursor.network AND stuck.told_at_ms IS NOT NULL) AS quarantined,
  (SELECT min(told_at_ms) FROM stuck_addresses stuck WHERE stuck.network = cursor.network) AS quarantinedSinceMs
  FROM network_cursors cursor`,
);

/**
 * A job that only the cron starts: a job that schedules itself would hide that the cron has stopped. If this job does not run, nothing wakes a
 * watcher.
 */
const JOB_OF_CRON = "wake-watchers";

export interface DeploymentRow extends AlertProof {
  readonly cronRanAtMs: number | null;
  readonly setUpAtMs: number | null;
}

/** Always one row, even if the selected rows do not exist. */
export const SELECT_DEPLOYMENT = factsOf(
  ["cronRanAtMs", "setUpAtMs", "acceptedAtMs", "acceptedSettings", "provedAtMs", "provedSettings", "dismissedAtMs"],
  `SELECT (SELECT began_at_ms FROM job_runs WHERE job = '${JOB_OF_CRON}') AS cronRanAtMs, (SELECT set_up_at_ms FROM deployment) AS setUpAtMs,
  proof.accepted_at_ms AS acceptedAtMs, proof.accepted_settings AS acceptedSettings, proof.proved_at_ms AS provedAtMs,
  proof.proved_settings AS provedSettings, proof.dismissed_at_ms AS dismissedAtMs
  FROM (SELECT 1) LEFT JOIN alert_proof proof ON proof.id = 1`,
);

export interface QueueRow {
  readonly due: number;
  readonly oldestDueAtMs: number | null;
}

const QUEUE_COLUMNS = ["due", "oldestDueAtMs"];

/** Invoices that the sweep has failed to settle more than once. */
export const SELECT_UNSETTLED = factsOf(
  QUEUE_COLUMNS,
  "SELECT count(*) AS due, min(retry_at_ms) AS oldestDueAtMs FROM unsettled_invoices WHERE failures > 1",
);

/** Leaves out invoices whose settlement has failed; `SELECT_UNSETTLED` counts those that failed more than once. */
export const SELECT_OLDEST_INVOICE = factsOf(
  QUEUE_COLUMNS,
  `SELECT 1 AS due, expires_at_ms AS oldestDueAtMs FROM invoices
  WHERE status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') AND expires_at_ms <= ?1
    AND NOT EXISTS (SELECT 1 FROM unsettled_invoices WHERE invoice_id = invoices.id)
  ORDER BY expires_at_ms LIMIT 1`,
);

const NEXT_ENDPOINT = "SELECT webhook_id FROM deliveries WHERE status = 'PENDING'";

/** Due deliveries of endpoints that are switched on and may be called now. */
export const SELECT_DELIVERIES = factsOf(
  QUEUE_COLUMNS,
  `WITH RECURSIVE step(id) AS (
    SELECT (${NEXT_ENDPOINT} ORDER BY webhook_id LIMIT 1)
    UNION ALL SELECT (${NEXT_ENDPOINT} AND webhook_id > step.id ORDER BY webhook_id LIMIT 1) FROM step WHERE step.id IS NOT NULL LIMIT ${MOST_WALKED}
  ), asked AS (SELECT hook.id FROM step CROSS JOIN webhooks hook ON hook.id = step.id AND hook.is_active = 1
    AND (hook.failures_in_row < ${MANY_FAILURES} OR coalesce(hook.probe_at_ms, 0) <= ?1))
  SELECT (SELECT count(*) FROM (SELECT 1 FROM asked CROSS JOIN deliveries due ON due.webhook_id = asked.id AND due.status = 'PENDING'
      AND due.next_attempt_ms <= ?1 LIMIT ${MOST_COUNTED})) AS due,
    (SELECT min((SELECT next_attempt_ms FROM deliveries WHERE status = 'PENDING' AND webhook_id = asked.id AND next_attempt_ms <= ?1
      ORDER BY next_attempt_ms LIMIT 1)) FROM asked) AS oldestDueAtMs`,
);

const NEXT_SHOP = "SELECT merchant_id FROM receipts WHERE next_attempt_ms IS NOT NULL";

export const SELECT_RECEIPTS = factsOf(
  QUEUE_COLUMNS,
  `WITH RECURSIVE step(id) AS (
    SELECT (${NEXT_SHOP} ORDER BY merchant_id LIMIT 1)
    UNION ALL SELECT (${NEXT_SHOP} AND merchant_id > step.id ORDER BY merchant_id LIMIT 1) FROM step WHERE step.id IS NOT NULL LIMIT ${MOST_WALKED}
  )
  SELECT (SELECT count(*) FROM (SELECT 1 FROM step CROSS JOIN receipts due ON due.merchant_id = step.id AND due.next_attempt_ms IS NOT NULL
      AND due.next_attempt_ms <= ?1 LIMIT ${MOST_COUNTED})) AS due,
    (SELECT min((SELECT next_attempt_ms FROM receipts WHERE next_attempt_ms IS NOT NULL AND merchant_id = step.id AND next_attempt_ms <= ?1
      ORDER BY next_attempt_ms LIMIT 1)) FROM step) AS oldestDueAtMs`,
);

/** The emails that are due: notices to teams, and invitations. */
export const SELECT_MAILS = factsOf(
  QUEUE_COLUMNS,
  `SELECT count(*) AS due, min(at_ms) AS oldestDueAtMs FROM (
  SELECT due_at_ms AS at_ms FROM notices WHERE due_at_ms IS NOT NULL AND due_at_ms <= ?1
  UNION ALL SELECT mail_due_at_ms FROM invitations WHERE mail_due_at_ms IS NOT NULL AND mail_due_at_ms <= ?1 LIMIT ${MOST_COUNTED})`,
);
