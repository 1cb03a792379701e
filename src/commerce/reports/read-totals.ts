import type { Db } from "../../platform/db/client.ts";
import { selectPeriodSums } from "./store.ts";
import type { TotalsQuery } from "./totals-body.ts";

/** The sums that the report reads together with the caller, in one storage call; no rows for an invalid query. `merchantId` may be unchecked. */
export function totalsReads(db: Db, merchantId: string, query: TotalsQuery | undefined) {
  return [selectPeriodSums(db, merchantId, query ?? { periods: [] })] as const;
}
