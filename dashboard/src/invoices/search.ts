import { isDay } from "../audit/days.ts";
import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";
import { CURRENCIES } from "./currencies.ts";
import { type InvoiceStatus, isInvoiceStatus } from "./states.ts";

export interface InvoicesSearch extends WithCursor {
  readonly status?: InvoiceStatus | undefined;
  /** Only invoices that need a decision. */
  readonly needsReview?: true | undefined;
  readonly search?: string | undefined;
  readonly customerId?: string | undefined;
  readonly currency?: (typeof CURRENCIES)[number] | undefined;
  /** First and last day of creation, in the reader's time zone. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Decimal amounts. */
  readonly amountFrom?: string | undefined;
  readonly amountTo?: string | undefined;
  /** The coin that the invoice was paid with; either both members are set, or neither. */
  readonly cryptocurrency?: string | undefined;
  readonly network?: string | undefined;
}

/** From the contract (amountParameter). */
const AMOUNT = /^\d{1,7}(\.\d{1,6})?$/;
const amountIn = (value: unknown) => (AMOUNT.test(String(value)) ? String(value) : undefined);

/** Ignores unknown values. */
export function invoicesSearch(given: Readonly<Record<string, unknown>>): InvoicesSearch {
  const { status, needsReview, search, customerId, currency, from, to, cursor } = given;
  const [cryptocurrency, network] = [searchText(given.cryptocurrency), searchText(given.network)];
  const hasPair = cryptocurrency !== undefined && network !== undefined;
  return chosen({
    status: isInvoiceStatus(status) ? status : undefined,
    needsReview: needsReview === true ? needsReview : undefined,
    search: searchText(search),
    customerId: searchText(customerId),
    currency: CURRENCIES.find((each) => each === currency),
    from: isDay(from) ? from : undefined,
    to: isDay(to) ? to : undefined,
    amountFrom: amountIn(given.amountFrom),
    amountTo: amountIn(given.amountTo),
    ...(hasPair ? { cryptocurrency, network } : {}),
    cursor: searchText(cursor),
  });
}
