import { CURSOR_REFUSAL, type ListQuery, pageBody, pageRequest, pageToRead } from "../../lib/pagination.ts";
import { err, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { merchantSummaryOf } from "./merchant-summary.ts";
import { selectMerchantPage } from "./store.ts";

/** Merchants for an operator, newest first. Refuses an invalid cursor. */
export async function listMerchantSummaries(
  { db, nowMs, sleep }: { readonly db: Db; readonly nowMs: number; readonly sleep: Sleep },
  query: ListQuery & { readonly search?: string | undefined },
): Promise<Result<object, Failure>> {
  // Always pages by cursor, so that nothing here counts all merchants.
  const asked = { ...query, cursor: query.cursor ?? "" };
  if (!pageRequest(asked).ok) return err(CURSOR_REFUSAL);
  const { after, limit } = pageToRead(asked);
  const rows = await readWithRetry(sleep, async () =>
    selectMerchantPage(db, { search: query.search, after, limit, nowMs, sinceMs: nowMs - DAY_MS }),
  );
  return rows.ok ? pageBody({ rows: rows.value, total: 0 }, asked, merchantSummaryOf) : rows;
}
