// One bounded run of a scheduled job. Messages may arrive twice, late or concurrently: each job has one run at a time, and any run may be repeated.
import { MINUTE_MS } from "../../lib/time.ts";
import type { Db } from "../db/client.ts";
import type { Left } from "./left.ts";
import { beginRun, endRun } from "./store.ts";

/** The lease of a run, longer than any run takes. A crashed run blocks the next one for this long. */
export const LEASE_MS = 2 * MINUTE_MS;

interface JobDependencies {
  readonly db: Db;
  nowMs(): number;
  /** A fresh ULID. */
  newRunId(): string;
}

/** Runs the job, or returns `running` if another run of it is in progress. Throws what the job throws. */
export async function runJob(
  deps: JobDependencies,
  job: { readonly name: string; run(): Promise<Left> },
): Promise<Left | "running"> {
  const runId = deps.newRunId();
  const nowMs = deps.nowMs();
  const begun = await beginRun(deps.db, { job: job.name, runId, nowMs, leasedUntilMs: nowMs + LEASE_MS });
  if (begun.length === 0) return "running";
  let endedAtMs: number | undefined;
  try {
    const left = await job.run();
    endedAtMs = deps.nowMs();
    return left;
  } finally {
    await endRun(deps.db, { job: job.name, runId, endedAtMs });
  }
}
