import type { Result } from "../../lib/result.ts";
import { ok } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { selectPlace } from "../../platform/events/store.ts";
import type { Failure } from "../../platform/failures.ts";
import { NEWS_PAGE, selectNews, selectPlaceAt } from "./store.ts";
import type { NewsRow } from "./team-socket.ts";

/** An event is committed at most this long after the time in its id. */
const COMMITTED_MS = MINUTE_MS;
const SINCE = "since ";

/** The position of a reader who has read everything since `ms`. The previous release does not know it, and tells the reader to reload everything. */
export function positionSince(ms: number): string {
  return `${SINCE}${ms}`;
}

/** The position before the oldest event. */
const BEGINNING = "0";
/** A reader who missed more pages than this reloads everything, which is cheaper. */
const MOST_PAGES = 5;

/**
 * `rows`: the events after a position, oldest first; undefined if the position is unknown or too far back. `place`: the position from which to
 * continue.
 */
interface News {
  readonly rows: readonly NewsRow[] | undefined;
  readonly place: string;
}

export async function readNews(
  deps: { readonly db: Db; readonly sleep: Sleep },
  merchantId: string,
  after: string,
): Promise<Result<News, Failure>> {
  const first = await firstPlace(deps, merchantId, after);
  if (!first.ok) return first;
  const rows: NewsRow[] = [];
  for (let page = 1; ; page++) {
    const from = rows.at(-1)?.id ?? first.value;
    const read = await readWithRetry(deps.sleep, async () =>
      batch(deps.db, [selectPlace(deps.db, merchantId, from), selectNews(deps.db, merchantId, from)]),
    );
    if (!read.ok) return read;
    const [[place], found] = read.value;
    const newest = place?.newest ?? BEGINNING;
    const isKnown = from === BEGINNING || place?.isKnown === 1;
    if (!isKnown || page > MOST_PAGES) return ok({ rows: undefined, place: newest });
    rows.push(...found);
    if (found.length < NEWS_PAGE) return ok({ rows, place: rows.at(-1)?.id ?? first.value });
  }
}

async function firstPlace(
  deps: { readonly db: Db; readonly sleep: Sleep },
  merchantId: string,
  after: string,
): Promise<Result<string, Failure>> {
  if (!after.startsWith(SINCE)) return ok(after);
  const atMs = Number(after.slice(SINCE.length)) - COMMITTED_MS;
  const read = await readWithRetry(deps.sleep, async () => selectPlaceAt(deps.db, merchantId, atMs));
  return read.ok ? ok(read.value[0]?.place ?? BEGINNING) : read;
}
