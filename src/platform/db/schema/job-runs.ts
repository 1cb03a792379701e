import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The last run of each scheduled job, and its lease: only one run of a job at a time. */
export const jobRuns = sqliteTable("job_runs", {
  job: text("job").primaryKey(),
  /** A ULID, created when the run began. */
  runId: text("run_id").notNull(),
  /** Another run may start from then on, whatever happened to this one; 0 once it has ended. */
  leasedUntilMs: integer("leased_until_ms").notNull(),
  beganAtMs: integer("began_at_ms").notNull(),
  /** The end of the newest run without a fault; null before the first. */
  endedAtMs: integer("ended_at_ms"),
});
