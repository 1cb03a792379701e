// Reads the same facts as the creation of an invoice, but creates none: the merchant's wallets, the networks, the rates, and whether a restore is
// running.
import type { MerchantRow } from "../../accounts/merchant-records/store.ts";
import { selectCursors } from "../../commerce/cursors/store.ts";
import { currencyRefusal } from "../../commerce/payment-methods/activate-payment-method.ts";
import { serverRoomRefusal } from "../../commerce/public-holds/check-room.ts";
import { selectLiveWallets } from "../../commerce/wallet-records/store.ts";
import type { ResultsOf } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { RateTable } from "../../rates/quote.ts";
import { type ReadinessOf, readinessOf } from "./readiness.ts";

/** The reads for the storage call that authenticates the caller. `merchantId` may come unchecked from a path. */
export function readinessReads(db: Db, merchantId: string) {
  return [selectLiveWallets(db, merchantId), selectCursors(db)] as const;
}

interface ReadinessDependencies
  extends Pick<ReadinessOf, "macKeys" | "isWatched" | "hasSource" | "pollSeconds" | "nowMs"> {
  /** Called once per request, as when an invoice is created. */
  table(): Promise<RateTable>;
  isRestoring(): Promise<boolean>;
}

export async function readReadiness(
  deps: ReadinessDependencies,
  of: {
    readonly merchant: MerchantRow;
    readonly currency: string;
    readonly read: ResultsOf<ReturnType<typeof readinessReads>>;
  },
) {
  const { merchant, currency, read } = of;
  const [wallets, cursors] = read;
  const [table, unpriced, isRestoring] = await Promise.all([
    deps.table(),
    currencyRefusal(deps, currency),
    deps.isRestoring(),
  ]);
  const full = serverRoomRefusal(merchant, "API");
  return readinessOf({ ...deps, merchant, currency, wallets, cursors, table, unpriced, full, isRestoring });
}
