import { selectLiveWallets } from "../../commerce/wallet-records/store.ts";
import type { Db } from "../../platform/db/client.ts";
import {
  selectDegradedNetworks,
  selectEndpointHealth,
  selectInReview,
  selectUnderpaid,
  selectUnmatched,
  selectWalletWarnings,
} from "./store.ts";

/** Everything that may need a merchant's attention. `merchantId` may come unchecked from a path. */
export function attentionReads(db: Db, merchantId: string, nowMs: number) {
  return [
    selectUnmatched(db, merchantId),
    selectInReview(db, merchantId),
    selectUnderpaid(db, merchantId, nowMs),
    selectEndpointHealth(db, merchantId),
    selectLiveWallets(db, merchantId),
    selectDegradedNetworks(db),
    selectWalletWarnings(db, merchantId),
  ] as const;
}
