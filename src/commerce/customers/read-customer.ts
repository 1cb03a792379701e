// The rows that customer routes read together with the caller, in one storage call. Every value is bound, and none is trusted.

import { emailKeyOf } from "../../lib/email.ts";
import type { Db } from "../../platform/db/client.ts";
import { selectCustomerByEmail, selectLiveCustomer, selectLocation, selectSales } from "./store.ts";

/** One live customer; a malformed id matches no row, like an unknown id. */
export function customerReads(db: Db, merchantId: string, customerId: string | undefined) {
  return [selectLiveCustomer(db, merchantId, customerId ?? "")] as const;
}

export function locatedReads(db: Db, merchantId: string, customerId: string | undefined) {
  const [customer] = customerReads(db, merchantId, customerId);
  return [customer, selectLocation(db, merchantId, customerId ?? "")] as const;
}

/** The customer whose email is in the request. */
export function emailReads(db: Db, merchantId: string, email: string | null | undefined) {
  return [selectCustomerByEmail(db, merchantId, typeof email === "string" ? emailKeyOf(email) : undefined)] as const;
}

export function salesSummaryReads(db: Db, merchantId: string, customerId: string | undefined) {
  const [customer] = customerReads(db, merchantId, customerId);
  return [customer, selectSales(db, merchantId, customerId ?? "")] as const;
}
