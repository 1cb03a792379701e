import type { Db } from "../db/client.ts";
import { type PageRequest, pageOf, pageRequest } from "../lib/pagination.ts";
import type { Result } from "../lib/result.ts";
import { fileOf, type InvoiceRow } from "./invoice.ts";
import { type BodyContext, invoiceBodyOf } from "./invoice-body.ts";
import { countInvoices, type InvoiceFilter, selectInvoicePage } from "./store.ts";

export interface ListQuery extends InvoiceFilter {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
}

/** The page and, where the answer must carry it, the count. A query that is not valid reads nothing. */
export function pageReads(db: Db, merchantId: string, query: ListQuery | undefined) {
  const asked = query === undefined ? undefined : pageRequest(query);
  const page: PageRequest = asked?.ok ? asked.value : { limit: 0, offset: 0, after: undefined, page: undefined };
  const limit = asked?.ok ? page.limit + 1 : 0;
  const filter = query ?? {};
  return [
    selectInvoicePage(db, merchantId, { filter, after: page.after, limit, offset: page.offset }),
    countInvoices(db, merchantId, filter, page.page !== undefined),
  ] as const;
}

/** Lists show what is stored, at most one sweep behind (decisions 4). */
export function listInvoices(
  read: { readonly rows: readonly InvoiceRow[]; readonly total: number },
  query: ListQuery,
  context: BodyContext,
): Result<object, "NOT_A_CURSOR"> {
  const asked = pageRequest(query);
  if (!asked.ok) return asked;
  const { limit, page } = asked.value;
  const { rows, nextCursor } = pageOf(read.rows, limit);
  const data = rows.map((row) => invoiceBodyOf(fileOf(row), context));
  if (page === undefined) return { ok: true, value: { data, nextCursor } };
  const lastPage = Math.max(1, Math.ceil(read.total / limit));
  return { ok: true, value: { data, nextCursor, pagination: { page, limit, total: read.total, lastPage } } };
}
