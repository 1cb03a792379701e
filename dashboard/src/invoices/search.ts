import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";
import { type InvoiceStatus, isInvoiceStatus } from "./status.tsx";

export interface InvoicesSearch extends WithCursor {
  readonly status?: InvoiceStatus | undefined;
  /** Only those that need a decision. */
  readonly needsReview?: true | undefined;
  readonly search?: string | undefined;
  readonly customerId?: string | undefined;
}

/** Ignores unknown values. */
export function invoicesSearch(given: Readonly<Record<string, unknown>>): InvoicesSearch {
  const { status, needsReview, search, customerId, cursor } = given;
  return chosen({
    status: isInvoiceStatus(status) ? status : undefined,
    needsReview: needsReview === true ? needsReview : undefined,
    search: searchText(search),
    customerId: searchText(customerId),
    cursor: searchText(cursor),
  });
}
