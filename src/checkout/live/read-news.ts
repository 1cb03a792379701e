import type { Result } from "../../lib/result.ts";
import { ok } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { selectPlace } from "../../platform/events/store.ts";
import type { Failure } from "../../platform/failures.ts";
import { NEWS_PAGE, selectNews } from "./store.ts";
import type { NewsRow } from "./team-socket.ts";

/** The place before the oldest event. */
const BEGINNING = "0";
/** A reader who missed more than this reloads what it shows, which is cheaper. */
const MOST_PAGES = 5;

/** Events after a place, oldest first; undefined if the place is unknown or too far back. `place`: where to continue. */
interface News {
  readonly rows: readonly NewsRow[] | undefined;
  readonly place: string;
}

export async function readNews(
  deps: { readonly db: Db; readonly sleep: Sleep },
  merchantId: string,
  after: string,
): Promise<Result<News, Failure>> {
  const rows: NewsRow[] = [];
  for (let page = 1; ; page++) {
    const from = rows.at(-1)?.id ?? after;
    const read = await readWithRetry(deps.sleep, async () =>
      batch(deps.db, [selectPlace(deps.db, merchantId, from), selectNews(deps.db, merchantId, from)]),
    );
    if (!read.ok) return read;
    const [[place], found] = read.value;
    const newest = place?.newest ?? BEGINNING;
    const isKnown = from === BEGINNING || place?.isKnown === 1;
    if (!isKnown || page > MOST_PAGES) return ok({ rows: undefined, place: newest });
    rows.push(...found);
    if (found.length < NEWS_PAGE) return ok({ rows, place: rows.at(-1)?.id ?? after });
  }
}
