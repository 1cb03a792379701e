// How often chains are polled (POLL_SECONDS). `npm start` and the Worker both read it.
import { err, ok, type Result } from "../../lib/result.ts";

/**
 * With faster polling, sources could not answer in time; with polling slower than `LONGEST`, invoices could expire
 * before their payments are seen.
 */
const SHORTEST = 0.05;
const LONGEST = 3600;

/**
 * Seconds between two passes over every network; null leaves each network its own interval (`Network.pollSeconds`). The error is a sentence for the
 * operator.
 */
export function parsePollSeconds(text: string | undefined): Result<number | null, string> {
  const trimmed = (text ?? "").trim();
  if (trimmed === "") return ok(null);
  const seconds = /^\d{1,6}(\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (seconds >= SHORTEST && seconds <= LONGEST) return ok(seconds);
  return err(`POLL_SECONDS must be a number of seconds from ${SHORTEST} to ${LONGEST}`);
}
