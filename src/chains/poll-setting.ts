// How often chains are polled (POLL_SECONDS), read by `npm start` and by the Worker alike.
import { err, ok, type Result } from "../lib/result.ts";

/** A look more often than this would ask sources faster than they answer; a rarer one would let invoices expire unseen. */
const SHORTEST = 0.05;
const LONGEST = 3600;

/** Seconds between two looks at every network; null leaves each at its own pace (`Network.pollSeconds`). The error is a sentence. */
export function parsePollSeconds(text: string | undefined): Result<number | null, string> {
  const trimmed = (text ?? "").trim();
  if (trimmed === "") return ok(null);
  const seconds = /^\d{1,6}(\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (seconds >= SHORTEST && seconds <= LONGEST) return ok(seconds);
  return err(`POLL_SECONDS must be a number of seconds from ${SHORTEST} to ${LONGEST}`);
}
