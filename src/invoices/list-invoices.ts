import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { type ListQuery, pageBody, pageToRead } from "../lib/pagination.ts";
import type { Result } from "../lib/result.ts";
import type { NetworkCursor } from "../payments/cursor.ts";
import { selectCursors } from "../watchers/store.ts";
import { fileOf, type InvoiceRow } from "./invoice.ts";
import { type BodyContext, invoiceBodyOf } from "./invoice-body.ts";
import { countInvoices, type InvoiceFilter, selectInvoicePage } from "./store.ts";

type InvoiceQuery = ListQuery & InvoiceFilter;

/** The page and, where the answer must carry it, the count; how far each network was read, once for all of them. A query that is not valid reads nothing. */
export function pageReads(db: Db, merchantId: string, query: InvoiceQuery | undefined) {
  const page = pageToRead(query);
  const filter = query ?? {};
  return [
    selectInvoicePage(db, merchantId, { filter, ...page }),
    countInvoices(db, merchantId, filter, page.page !== undefined),
    selectCursors(db),
  ] as const;
}

/**
 * Lists show what is stored, at most one sweep behind (decisions 4). An invoice that cannot be shown is named in the log and left out: by itself
 * it is an error, and it hides no other.
 */
export function listInvoices(
  read: {
    readonly rows: readonly Omit<InvoiceRow, "cursors">[];
    readonly total: number;
    readonly cursors: readonly NetworkCursor[];
  },
  query: ListQuery,
  context: BodyContext,
): Result<object, Failure> {
  return pageBody(read, query, (row) => {
    try {
      return invoiceBodyOf(fileOf({ ...row, cursors: read.cursors }), context);
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error;
      const alert = "an invoice cannot be shown in a list";
      console.error(JSON.stringify({ level: "error", alert, invoiceId: row.id, error: name }));
      return undefined;
    }
  });
}
