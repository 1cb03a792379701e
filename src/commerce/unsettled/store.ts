// The invoices that the sweep could not settle, and when each is retried.
import { inArray, sql } from "drizzle-orm";
import type { InvoiceId } from "../../lib/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { unsettledInvoices } from "../../platform/db/schema/unsettled-invoices.ts";

export interface Unsettled {
  readonly invoiceId: InvoiceId;
  /** The code of the refusal, the database's message, or the name of the error; never a value from a row. */
  readonly reason: string;
}

/** After the first failure the next run retries; after n failures the pause is 2^(n - 1) minutes, at most six hours. */
const LONGEST_PAUSE_MS = 6 * HOUR_MS;

/** Stores the failures of a run. If the same run is stored twice, it counts twice, which only makes the pause longer. */
export function noteUnsettled(db: Db, left: readonly Unsettled[], nowMs: number) {
  const list = JSON.stringify(left);
  const pauseMs = sql`min(${LONGEST_PAUSE_MS}, ${MINUTE_MS} << min(unsettled_invoices.failures, 10))`;
  return db
    .insert(unsettledInvoices)
    .select(sql`select value ->> '$.invoiceId', 1, value ->> '$.reason', ${nowMs} from json_each(${list}) where true`)
    .onConflictDoUpdate({
      target: unsettledInvoices.invoiceId,
      set: {
        failures: sql`unsettled_invoices.failures + 1`,
        reason: sql`excluded.reason`,
        retryAtMs: sql`${nowMs} + ${pauseMs}`,
      },
    });
}

/** Deletes the failures of invoices that are settled now, in this run or earlier. */
export function forgetSettled(db: Db, settled: readonly InvoiceId[]) {
  const active = db
    .select({ id: invoices.id })
    .from(invoices)
    .where(
      sql`${invoices.id} = unsettled_invoices.invoice_id and status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')`,
    );
  return db
    .delete(unsettledInvoices)
    .where(
      sql`${inArray(unsettledInvoices.invoiceId, sql`(select value from json_each(${JSON.stringify(settled)}))`)} or not exists ${active}`,
    );
}
