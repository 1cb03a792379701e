import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The last run of each scheduled job, and its lease: of one job only one run goes on at a time. */
export const jobRuns = sqliteTable("job_runs", {
  job: text("job").primaryKey(),
  /** A ULID: made when the run began. */
  runId: text("run_id").notNull(),
  /** Another run may begin from then on, whatever became of this one; 0 once it has ended. */
  leasedUntilMs: integer("leased_until_ms").notNull(),
  beganAtMs: integer("began_at_ms").notNull(),
  /** Of the newest run that ended without a fault; null before the first. */
  endedAtMs: integer("ended_at_ms"),
});
