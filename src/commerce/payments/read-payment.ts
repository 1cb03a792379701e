import type { Db } from "../../platform/db/client.ts";
import { selectPaymentFile } from "./store.ts";

export function paymentReads(db: Db, merchantId: string, paymentId: string) {
  return [selectPaymentFile(db, merchantId, paymentId)] as const;
}
