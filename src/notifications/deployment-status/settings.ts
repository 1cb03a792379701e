// Settings of the deployment's own status.
import { err, ok, type Result } from "../../lib/result.ts";

const GB = 1_000_000_000;
/** A database of the paid plan. */
const DEFAULT_LIMIT_BYTES = 10 * GB;

/** DATABASE_LIMIT_GB in bytes: the size at which the database is full. The error is a sentence. */
export function parseDatabaseLimit(text: string | undefined): Result<number, string> {
  const trimmed = (text ?? "").trim();
  if (trimmed === "") return ok(DEFAULT_LIMIT_BYTES);
  const limit = /^\d{1,6}(\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : 0;
  return limit > 0 ? ok(limit * GB) : err("DATABASE_LIMIT_GB must be a number of gigabytes above 0");
}

/** The same; a wrong value counts as the default. */
export function databaseLimitOf(text: string | undefined): number {
  const parsed = parseDatabaseLimit(text);
  return parsed.ok ? parsed.value : DEFAULT_LIMIT_BYTES;
}

/** Too long to be guessed, and only characters that a header can carry. */
const TOKEN = /^[\x21-\x7e]{32,256}$/;

/** METRICS_TOKEN; null if there are no metrics. The error is a sentence without the value. */
export function parseMetricsToken(text: string | undefined): Result<string | null, string> {
  const trimmed = (text ?? "").trim();
  if (trimmed === "") return ok(null);
  return TOKEN.test(trimmed) ? ok(trimmed) : err("METRICS_TOKEN must have 32 to 256 characters, without spaces");
}
