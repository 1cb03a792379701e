import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The last run of each scheduled job, and its lease, so that only one run of a job is active at a time. */
export const jobRuns = sqliteTable("job_runs", {
  job: text("job").primaryKey(),
  /** A ULID, created when the run began. */
  runId: text("run_id").notNull(),
  /** Another run may start from this time on, even if this one has not ended; 0 once it has ended. */
  leasedUntilMs: integer("leased_until_ms").notNull(),
  beganAtMs: integer("began_at_ms").notNull(),
  /** When the newest run without a fault ended; null before the first such run. */
  endedAtMs: integer("ended_at_ms"),
});
