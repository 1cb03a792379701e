import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { jobRuns } from "../db/schema/job-runs.ts";

/** Starts a run and returns its row; no row while another run of the job holds its lease. */
export function beginRun(
  db: Db,
  of: { readonly job: string; readonly runId: string; readonly nowMs: number; readonly leasedUntilMs: number },
) {
  const { job, runId, nowMs, leasedUntilMs } = of;
  const run = { runId, leasedUntilMs, beganAtMs: nowMs };
  return db
    .insert(jobRuns)
    .values({ job, ...run })
    .onConflictDoUpdate({ target: jobRuns.job, set: run, setWhere: sql`${jobRuns.leasedUntilMs} <= ${nowMs}` })
    .returning({ runId: jobRuns.runId });
}

/** Ends the lease of a run, unless another run has started since. `endedAtMs`: undefined if the run failed. */
export function endRun(
  db: Db,
  of: { readonly job: string; readonly runId: string; readonly endedAtMs: number | undefined },
) {
  const ended = of.endedAtMs === undefined ? {} : { endedAtMs: of.endedAtMs };
  return db
    .update(jobRuns)
    .set({ leasedUntilMs: 0, ...ended })
    .where(and(eq(jobRuns.job, of.job), eq(jobRuns.runId, of.runId)));
}
