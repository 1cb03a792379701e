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

/** The `after` of a first poll: it starts at the oldest event. */
const BEGINNING = "0";

interface ListEventsQuery extends Omit<ListQuery, "page"> {
  readonly type?: readonly EventType[] | undefined;
  readonly invoiceId?: string | undefined;
  /** Not allowed together with `cursor`. */
  readonly after?: string | undefined;
}

/** Reads the page and one more event, and the poller's position. For an invalid query reads no page. */
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

interface FeedPosition {
  readonly isKnown: number;
  readonly newest: string | null;
}

/**
 * The JSON text of a list. A list that shows the newest events first has a cursor, like all lists. A poller always gets the position to continue
 * from: the last event of a full page, otherwise the merchant's newest event of any type, so that the position does not expire while no event of the
 * wanted type happens. One batch reads both, page and position, so they are consistent. Fails with EVENT_NOT_FOUND if the event of `after` no longer
 * exists.
 */
export function listEvents(
  read: { readonly rows: readonly (EventRow & { readonly id: string })[]; readonly place: FeedPosition | undefined },
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
