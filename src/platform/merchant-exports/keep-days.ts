import { err, ok, type Result } from "../../lib/result.ts";

const DEFAULT_DAYS = 30;
const MOST_DAYS = 3_650;

/** The setting EXPORT_DAYS: for how many days exports are kept. */
export function parseExportDays(text: string | undefined): Result<number, string> {
  const given = (text ?? "").trim();
  if (given === "") return ok(DEFAULT_DAYS);
  const days = Number(given);
  if (/^\d+$/.test(given) && days >= 1 && days <= MOST_DAYS) return ok(days);
  return err(`EXPORT_DAYS must be a whole number of days from 1 to ${MOST_DAYS}`);
}
