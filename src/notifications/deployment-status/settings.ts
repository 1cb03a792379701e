// Settings of the deployment's own status.
import { sha256Hex } from "../../lib/bytes.ts";
import { err, ok, type Result } from "../../lib/result.ts";

const GB = 1_000_000_000;
/** The limit of a database on the paid plan. */
const DEFAULT_LIMIT_BYTES = 10 * GB;

/** Parses DATABASE_LIMIT_GB, the size at which the database is full, to bytes. The error is a sentence for the operator. */
export function parseDatabaseLimit(text: string | undefined): Result<number, string> {
  const trimmed = (text ?? "").trim();
  if (trimmed === "") return ok(DEFAULT_LIMIT_BYTES);
  const limit = /^\d{1,6}(\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : 0;
  return limit > 0 ? ok(limit * GB) : err("DATABASE_LIMIT_GB must be a number of gigabytes above 0");
}

/** Like `parseDatabaseLimit`, but an invalid value counts as the default. */
export function databaseLimitOf(text: string | undefined): number {
  const parsed = parseDatabaseLimit(text);
  return parsed.ok ? parsed.value : DEFAULT_LIMIT_BYTES;
}

/** The settings that decide whether alerts arrive, and where. */
const ALERT_SETTINGS = ["MAIL_PROVIDER", "MAIL_FROM", "ALERT_WEBHOOK_URL", "ALERT_WEBHOOK_SECRET"] as const;

/**
 * A hash of these settings; it shows whether they have changed since it was stored. It does not depend on MASTER_KEY, whose rotation does not affect
 * alerts. It reveals no setting: a provider's key or a token in a URL cannot be guessed.
 */
export function alertSettingsOf(of: Partial<Record<(typeof ALERT_SETTINGS)[number], string | undefined>>): string {
  return sha256Hex(JSON.stringify(ALERT_SETTINGS.map((name) => (of[name] ?? "").trim())));
}

/** Too long to be guessed, with only characters that are allowed in a header. */
const TOKEN = /^[\x21-\x7e]{32,256}$/;

/** Parses METRICS_TOKEN; null if the deployment shows no metrics. The error is a sentence for the operator, without the value. */
export function parseMetricsToken(text: string | undefined): Result<string | null, string> {
  const trimmed = (text ?? "").trim();
  if (trimmed === "") return ok(null);
  return TOKEN.test(trimmed) ? ok(trimmed) : err("METRICS_TOKEN must have 32 to 256 characters, without spaces");
}
