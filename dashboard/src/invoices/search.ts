import { isDay } from "../audit/days.ts";
import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";
import { CURRENCIES } from "./currencies.ts";
import { type InvoiceStatus, isInvoiceStatus } from "./states.ts";

export interface InvoicesSearch extends WithCursor {
  readonly status?: InvoiceStatus | undefined;
  /** Only those that need a decision. */
  readonly needsReview?: true | undefined;
  readonly search?: string | undefined;
  readonly customerId?: string | undefined;
  readonly currency?: (typeof CURRENCIES)[number] | undefined;
  /** First and last day of creation, of the reader's time zone. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Ignores unknown values. */
export function invoicesSearch(given: Readonly<Record<string, unknown>>): InvoicesSearch {
  const { status, needsReview, search, customerId, currency, from, to, cursor } = given;
  return chosen({
    status: isInvoiceStatus(status) ? status : undefined,
    needsReview: needsReview === true ? needsReview : undefined,
    search: searchText(search),
    customerId: searchText(customerId),
    currency: CURRENCIES.find((each) => each === currency),
    from: isDay(from) ? from : undefined,
    to: isDay(to) ? to : undefined,
    cursor: searchText(cursor),
  });
}
