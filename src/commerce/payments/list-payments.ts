import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import type { Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import { listedPaymentBody, type PaymentRow } from "./payment-body.ts";
import { countPayments, type PaymentFilter, selectPaymentPage } from "./store.ts";

/** The page and, if the response must contain it, the count. For an invalid query nothing is read. */
export function paymentPageReads(db: Db, merchantId: string, query: (ListQuery & PaymentFilter) | undefined) {
  const page = pageToRead(query);
  const filter = query ?? {};
  return [
    selectPaymentPage(db, merchantId, { filter, ...page }),
    countPayments(db, merchantId, filter, page.page !== undefined),
  ] as const;
}

/** Newest first, including payments without an invoice. */
export function listPayments(
  read: { readonly rows: readonly PaymentRow[]; readonly total: number },
  query: ListQuery,
): Result<object, Failure> {
  return pageBody(read, query, listedPaymentBody);
}
