import { logAlert } from "../../lib/log.ts";
import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import type { Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import type { NetworkCursor } from "../cursors/cursor.ts";
import { selectCursors } from "../cursors/store.ts";
import { fileOf, type InvoiceRow } from "../invoice-records/invoice.ts";
import { countInvoices, type InvoiceFilter, selectInvoicePage } from "../invoice-records/store.ts";
import { type BodyContext, invoiceBodyOf } from "./invoice-body.ts";

type InvoiceQuery = ListQuery & InvoiceFilter;

/**
 * The page and, if the response must contain it, the count; also how far each network was read, once for all invoices. For an invalid query no
 * invoice is read.
 */
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
 * Lists show stored rows, at most one sweep behind (decisions 4). An invoice that cannot be shown is logged and left out, so that the others are
 * still listed; reading that invoice alone is an error.
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
      logAlert("an invoice cannot be shown in a list", { invoiceId: row.id, error: name });
      return undefined;
    }
  });
}
