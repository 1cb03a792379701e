// What an endpoint may subscribe to: event types by name, all of one domain, or all.
import { EVENT_TYPES } from "../../platform/events/event.ts";

const domains = EVENT_TYPES.filter((type) => type.includes(".")).map((type) => type.replace(/\..*/, ".*"));

export const SUBSCRIPTIONS: readonly string[] = [...EVENT_TYPES, ...new Set(domains), "*"];

/** A longer text cannot be a misspelt name, and comparing it would take too long. */
const LONGEST_COMPARED = 40;

/** The subscription name that is most similar to the given text; undefined for a text far longer than any name. */
export function nearestSubscription(text: string): string | undefined {
  if (text.length > LONGEST_COMPARED) return undefined;
  const written = text.toLowerCase();
  const candidates = SUBSCRIPTIONS.map((name) => ({ name, distance: editDistance(written, name) }));
  return candidates.reduce((best, each) => (each.distance < best.distance ? each : best)).name;
}

/** Number of characters to insert, delete or change (Levenshtein distance). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j++) {
      const changed = (row[j - 1] ?? 0) + (letter === to[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
