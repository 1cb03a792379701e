import {
  CURSOR_REFUSAL,
  DEFAULT_LIMIT,
  type ListQuery,
  pageOf,
  pageRequest,
  pageToRead,
} from "../../lib/pagination.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { type EventRow, type EventType, eventText } from "./event.ts";
import { selectEventPage, selectMerchantEvent, selectPlace } from "./store.ts";

/** Where pollers begin: with the oldest event that is kept. */
const BEGINNING = "0";

export interface ListEventsQuery extends Omit<ListQuery, "page"> {
  readonly type?: readonly EventType[] | undefined;
  readonly invoiceId?: string | undefined;
  /** With `after`, no cursor. */
  readonly after?: string | undefined;
}

/** The page with one event more, and the poller's position. A query that is not valid reads nothing. */
export function eventPageReads(db: Db, merchantId: string, query: ListEventsQuery | undefined) {
  const { limit, after: position } = pageToRead(query);
  const { type: types, invoiceId, after } = query ?? {};
  return [
    selectEventPage(db, merchantId, { types, invoiceId, after, before: position?.id, limit }),
    selectPlace(db, merchantId, after ?? ""),
  ] as const;
}

export function eventReads(db: Db, merchantId: string, eventId = "") {
  return [selectMerchantEvent(db, merchantId, eventId)] as const;
}

interface Place {
  readonly isKnown: number;
  readonly newest: string | null;
}

/**
 * The answer's text. Newest first it ends with a cursor as all lists do. A poller always gets the position to continue from: after the last
 * event of a full page, otherwise after the merchant's newest, of whatever type, so that the position does not expire while nothing that
 * they ask for happens. Page and newest are of one moment, for one batch read both. EVENT_NOT_FOUND where the position is gone.
 */
export function listEvents(
  read: { readonly rows: readonly (EventRow & { readonly id: string })[]; readonly place: Place | undefined },
  query: ListEventsQuery,
): Result<string, Failure> {
  const { after, limit = DEFAULT_LIMIT } = query;
  if (after === undefined) {
    if (!pageRequest(query).ok) return err(CURSOR_REFUSAL);
    const { rows, nextCursor } = pageOf(read.rows, limit);
    return ok(listText(rows, nextCursor));
  }
  if (after !== BEGINNING && read.place?.isKnown !== 1) return err({ code: "EVENT_NOT_FOUND" });
  const rows = read.rows.slice(0, limit);
  const isFull = read.rows.length > limit;
  return ok(listText(rows, (isFull ? rows.at(-1)?.id : read.place?.newest) ?? after));
}

function listText(rows: readonly EventRow[], nextCursor: string | null): string {
  return `{"data":[${rows.map(eventText).join(",")}],"nextCursor":${JSON.stringify(nextCursor)}}`;
}
