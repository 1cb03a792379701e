import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import type { Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import type { CustomerRecord } from "./customer.ts";
import { customerBodyOf } from "./customer-body.ts";
import { countCustomers, selectCustomerPage } from "./store.ts";

/** The page and, if the response must contain it, the count. */
export function customerPageReads(
  db: Db,
  merchantId: string,
  query: (ListQuery & { readonly search?: string | undefined }) | undefined,
) {
  const page = pageToRead(query);
  const search = query?.search;
  return [
    selectCustomerPage(db, merchantId, { search, page }),
    countCustomers(db, merchantId, search, page.page !== undefined),
  ] as const;
}

export function listCustomers(
  read: { readonly rows: readonly CustomerRecord[]; readonly total: number },
  query: ListQuery,
): Result<object, Failure> {
  return pageBody(read, query, customerBodyOf);
}
