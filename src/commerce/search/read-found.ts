import type { Db } from "../../platform/db/client.ts";
import { searchTerms } from "../search-index/search-term.ts";
import { selectFoundCustomers, selectFoundInvoices, selectFoundPayments } from "./store.ts";

/** Everything that a search text finds; reads nothing without a text. `merchantId` may come unchecked from a path. */
export function searchReads(db: Db, merchantId: string, text: string | undefined) {
  const terms = text === undefined ? undefined : searchTerms(text);
  return [
    selectFoundInvoices(db, merchantId, terms),
    selectFoundCustomers(db, merchantId, terms),
    selectFoundPayments(db, merchantId, terms),
  ] as const;
}
