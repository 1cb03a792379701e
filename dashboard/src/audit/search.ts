import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";
import { isDay } from "./days.ts";
import { isKnownAction, type KnownAction } from "./words.ts";

export interface AuditSearch extends WithCursor {
  /** The id of a user or key, or a kind of actor. */
  readonly actor?: string | undefined;
  readonly action?: KnownAction | undefined;
  /** First and last day, in the reader's time zone. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Ignores unknown values. */
export function auditSearch({ actor, action, from, to, cursor }: Readonly<Record<string, unknown>>): AuditSearch {
  return chosen({
    actor: typeof actor === "string" && /^\w{1,40}$/.test(actor) ? actor : undefined,
    action: isKnownAction(action) ? action : undefined,
    from: isDay(from) ? from : undefined,
    to: isDay(to) ? to : undefined,
    cursor: searchText(cursor),
  });
}
