import type { Db } from "../../platform/db/client.ts";
import { selectPaymentFile } from "./store.ts";

/** The read of one payment, for the storage call that authenticates the caller. */
export function paymentReads(db: Db, merchantId: string, paymentId: string) {
  return [selectPaymentFile(db, merchantId, paymentId)] as const;
}
