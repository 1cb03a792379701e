// The scheduled jobs. The cron only dispatches: one queue message for each job that is due. Each message is one bounded run. A run that leaves work
// sends the next message, so that no job is limited to a fixed number of runs a minute, and no job waits for another.
import { forgetImages } from "../accounts/images/forget-images.ts";
import { waitingDependencies } from "../accounts/invitations/dependencies.ts";
import { sendWaiting } from "../accounts/invitations/send-waiting.ts";
import { forgetExpired } from "../accounts/sign-in/delete-expired.ts";
import { releaseAmounts } from "../commerce/amounts/release-amounts.ts";
import { invoiceDependencies } from "../commerce/invoices/dependencies.ts";
import { expireInvoices } from "../commerce/invoices/expire-invoices.ts";
import { restoreDependencies } from "../commerce/restores/dependencies.ts";
import { runRestore } from "../commerce/restores/run-restore.ts";
import { refreshIndex } from "../commerce/search-index/refresh-index.ts";
import { pricePayments } from "../detection/matching/price-payments.ts";
import { forgetLeftOutTransfers } from "../detection/matching/unmatched/forget-left-out.ts";
import { wakeDependencies } from "../detection/watchers/dependencies.ts";
import { wakeWatchers } from "../detection/watchers/wake-watchers.ts";
import { newOperationId } from "../lib/ids.ts";
import { logAlert } from "../lib/log.ts";
import { sleep } from "../lib/sleep.ts";
import { logWork } from "../lib/work-log.ts";
import { wakeDue } from "../notifications/deliveries/wake-due.ts";
import { forgetDeliveries } from "../notifications/delivery-log/forget-deliveries.ts";
import { noticeDependencies } from "../notifications/notices/dependencies.ts";
import { sendNotices } from "../notifications/notices/send-notices.ts";
import { sendAlerts } from "../notifications/operator-alerts/send-alerts.ts";
import { receiptDependencies } from "../notifications/receipts/dependencies.ts";
import { sendReceipts } from "../notifications/receipts/send-receipts.ts";
import { type Db, openWakingDb, wakeEndpoints } from "../platform/db/client.ts";
import { databaseWithoutMerchant } from "../platform/db/databases.ts";
import { Meter } from "../platform/db/meter.ts";
import { isRestoring, withDeploymentOrThrow, withRestore } from "../platform/deployment/read-deployment.ts";
import { parseRestoreEpoch } from "../platform/deployment/restore-epoch.ts";
import { forgetEvents } from "../platform/events/forget-events.ts";
import { isDevelopment } from "../platform/http/deployment.ts";
import { forgetOperations } from "../platform/idempotency/store.ts";
import { CRON_EVERY_MS } from "../platform/jobs/cron.ts";
import type { Left } from "../platform/jobs/left.ts";
import { runJob } from "../platform/jobs/run-job.ts";
import { rotateKeys } from "../platform/keys/rotate-keys.ts";
import { exportMerchants, RUN_BOUNDS } from "../platform/merchant-exports/export-merchants.ts";
import { parseExportDays } from "../platform/merchant-exports/keep-days.ts";
import { VERSION } from "./configuration/version.ts";
import { alertDependencies, noteStatus, WATCH_JOB } from "./health/dependencies.ts";
import { rotateDependencies } from "./keys/dependencies.ts";

interface Run {
  readonly env: Env;
  readonly db: Db;
  readonly nowMs: number;
  /** When the cron dispatched it: the minute to which it belongs. */
  readonly minuteMs: number;
  /** Runs work that may be lost. */
  readonly background: (work: Promise<unknown>) => void;
}

const JOBS = {
  expire: async ({ env, db, nowMs }) => {
    const { left, hasMore } = await expireInvoices({
      ...invoiceDependencies(env, { db, nowMs, sleep }),
      clock: Date.now,
    });
    if (left.length > 0) logAlert("invoices left unsettled", { left });
    return hasMore ? "more" : "nothing";
  },
  release: ({ env, db, nowMs }) => releaseAmounts(invoiceDependencies(env, { db, nowMs, sleep })),
  price: async ({ env, db, nowMs, minuteMs }) => {
    await pricePayments(invoiceDependencies(env, { db, nowMs, sleep }), minuteMs);
    return "nothing";
  },
  "forget-operations": ({ db, nowMs }) => forgetOperations(db, nowMs),
  "forget-expired": ({ db, nowMs }) => forgetExpired(db, nowMs),
  "forget-events": ({ db, nowMs }) => forgetEvents(db, nowMs),
  "forget-deliveries": ({ db, minuteMs }) => forgetDeliveries(db, minuteMs),
  "forget-left-out": ({ db, nowMs }) => forgetLeftOutTransfers(db, nowMs),
  "forget-images": ({ db, nowMs }) => forgetImages(db, nowMs),
  "refresh-index": ({ db }) => refreshIndex(db),
  // Renews the rows of older keys, so that those keys can be retired.
  "rotate-keys": ({ env, db, nowMs }) => rotateKeys(rotateDependencies(env, { db, nowMs })),
  "wake-watchers": async ({ env, db, nowMs }) => {
    await wakeWatchers(wakeDependencies(env, { db, nowMs }));
    return "nothing";
  },
  "wake-endpoints": async ({ env, db, nowMs }) => {
    await wakeDue({ db, nowMs, wakeAll: (ids) => wakeEndpoints(env, ids) });
    return "nothing";
  },
  restore: async ({ env, db, nowMs, background }) => {
    const epoch = parseRestoreEpoch(env.RESTORE_EPOCH);
    if (!epoch.ok || epoch.value === undefined) return "nothing";
    return runRestore(restoreDependencies(env, epoch.value, { db, nowMs, sleep, background }));
  },
  receipts: ({ env, db }) => sendReceipts(receiptDependencies(env, db)),
  invitations: ({ env, db, nowMs, background }) => sendWaiting(waitingDependencies(env, { db, nowMs, background })),
  [WATCH_JOB]: async ({ env, db, nowMs, background }) => {
    await noteStatus(env, nowMs);
    return sendAlerts(alertDependencies(env, { db, nowMs, background }));
  },
  notices: ({ env, db, nowMs, background }) => sendNotices(noticeDependencies(env, { db, nowMs, background })),
  "export-merchants": async ({ env, db, nowMs }) => {
    const { EXPORTS: bucket } = env;
    if (bucket === undefined) return "nothing";
    const days = parseExportDays(env.EXPORT_DAYS);
    // While the setting is wrong, which /healthz reports, nothing is deleted.
    const keepDays = days.ok ? days.value : null;
    const deps = { db, bucket, nowMs, clock: Date.now, release: VERSION, keepDays };
    return exportMerchants({ ...deps, report: logAlert, bounds: RUN_BOUNDS });
  },
} as const satisfies Readonly<Record<string, (run: Run) => Promise<Left>>>;

export type JobName = keyof typeof JOBS;

export const JOB_NAMES = Object.keys(JOBS).filter(isJobName);

function isJobName(name: string): name is JobName {
  return Object.hasOwn(JOBS, name);
}

export interface JobMessage {
  readonly job: JobName;
  /** When the cron dispatched the first message of this chain. */
  readonly minuteMs: number;
  /** How many runs this chain has had. */
  readonly runs: number;
}

/**
 * A chain ends after this many runs even if work is left, because otherwise a job that always finds more would never end. The cron starts the next
 * chain.
 */
const MOST_RUNS = 1_000;

/** The settings that decide which jobs a deployment has. */
type JobSettings = Pick<Env, "EXPORTS"> & { readonly RESTORE_EPOCH?: string | undefined };

/** The jobs that a deployment has: `export-merchants` only with a bucket, `restore` only after a restore. */
export function jobsOf(env: JobSettings): readonly JobName[] {
  const isRestored = (env.RESTORE_EPOCH ?? "").trim() !== "";
  return JOB_NAMES.filter(
    (job) => (job !== "export-merchants" || env.EXPORTS !== undefined) && (job !== "restore" || isRestored),
  );
}

/** Jobs that decide something from data read from the chains, or send emails that a restore may invalidate. They wait until an import has ended. */
const WAITING_FOR_IMPORT: ReadonlySet<JobName> = new Set(["expire", "release", "price", "invitations"]);

/**
 * Jobs that are not urgent, each dispatched once in this many runs of the cron; all others are dispatched in every run. A message costs three queue
 * operations; 333,000 messages a month are free, 7.7 a minute.
 */
const RUNS_ONCE_IN: Readonly<Partial<Record<JobName, number>>> = {
  release: 5,
  notices: 5,
  invitations: 15,
  "refresh-index": 15,
  "forget-operations": 60,
  "forget-expired": 60,
  "forget-events": 60,
  "forget-deliveries": 60,
  "forget-left-out": 60,
  "forget-images": 60,
};

/** Whether the cron at `atMs` starts the job. Jobs with the same interval start at different times. */
export function isDue(job: JobName, atMs: number, everyMs: number): boolean {
  return (Math.floor(atMs / everyMs) + JOB_NAMES.indexOf(job)) % (RUNS_ONCE_IN[job] ?? 1) === 0;
}

/** Sends the first message of each job that is due. */
export async function dispatchJobs(env: Env, minuteMs: number): Promise<void> {
  const known = await withRestore(env, { nowMs: minuteMs, sleep });
  const everyMs = CRON_EVERY_MS[isDevelopment(env) ? "development" : "production"];
  const jobs = jobsOf(known.ok ? known.value : env).filter((job) => isDue(job, minuteMs, everyMs));
  await env.JOB_QUEUE.sendBatch(jobs.map((job) => ({ body: { job, minuteMs, runs: 0 } satisfies JobMessage })));
}

/** Runs the job that a message names, and sends the next message if there is more to do. Throws what the job throws. */
export async function runJobMessage(body: unknown, env: Env, background: Run["background"]): Promise<void> {
  const message = messageIn(body);
  if (message === undefined) return logAlert("a message of the queue that names no job", {});
  const { job, minuteMs, runs } = message;
  const meter = new Meter();
  const db = openWakingDb(databaseWithoutMerchant(env, "JOBS"), env, background, meter);
  const deps = { db, nowMs: () => Date.now(), newRunId: newOperationId };
  const nowMs = Date.now();
  const run = { env: await withDeploymentOrThrow(env, { nowMs, sleep }), db, nowMs, minuteMs, background };
  const note = (left: string, isFault: boolean) => {
    const ms = Date.now() - nowMs;
    logWork({ work: "job", ms, cost: meter.cost, isFault, facts: { job, runs, left } }, env, Math.random());
  };
  const isWaiting = WAITING_FOR_IMPORT.has(job) && (await isRestoring(run.env, sleep));
  const ended = runJob(deps, { name: job, run: async () => (isWaiting ? "nothing" : JOBS[job](run)) });
  const left = await ended.catch((error: unknown) => {
    note("failed", true);
    throw error;
  });
  note(left, false);
  if (left === "more" && runs + 1 < MOST_RUNS) {
    await env.JOB_QUEUE.send({ job, minuteMs, runs: runs + 1 } satisfies JobMessage);
  }
}

/** Whether a message from any queue is for a job, even one that this release does not know. All others name an endpoint with deliveries due. */
export function namesJob(body: unknown): body is { readonly job: unknown } {
  return typeof body === "object" && body !== null && "job" in body;
}

function messageIn(body: unknown): JobMessage | undefined {
  if (!(namesJob(body) && "minuteMs" in body && "runs" in body)) return undefined;
  const { job, minuteMs, runs } = body;
  if (typeof job !== "string" || !isJobName(job)) return undefined;
  return typeof minuteMs === "number" && typeof runs === "number" ? { job, minuteMs, runs } : undefined;
}
