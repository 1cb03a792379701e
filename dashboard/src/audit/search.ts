// What the address carries: the filters and the page, so that a link shows the same entries.
import { isDay } from "./days.ts";
import { isKnownAction, type KnownAction } from "./words.ts";

export interface AuditSearch {
  /** The id of a user or key, or a kind of actor. */
  readonly actor?: string;
  readonly action?: KnownAction;
  /** First and last day, of the reader's time zone. */
  readonly from?: string;
  readonly to?: string;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

export function auditSearch(given: Readonly<Record<string, unknown>>): AuditSearch {
  const { actor, action, from, to, cursor } = given;
  return {
    ...(typeof actor === "string" && /^\w{1,40}$/.test(actor) ? { actor } : {}),
    ...(isKnownAction(action) ? { action } : {}),
    ...(isDay(from) ? { from } : {}),
    ...(isDay(to) ? { to } : {}),
    ...(typeof cursor === "string" || typeof cursor === "number" ? { cursor: String(cursor) } : {}),
  };
}
