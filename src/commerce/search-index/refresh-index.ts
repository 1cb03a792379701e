// The job that indexes rows whose words are missing or outdated: rows written by a release older than the index, by an import, or by a change that
// raced with another.
import { batch, commit } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { joinStatements } from "../../platform/db/joined-statements.ts";
import type { Left } from "../../platform/jobs/left.ts";
import {
  indexCustomer,
  indexInvoice,
  rewordCustomer,
  rewordInvoice,
  selectUnindexedCustomers,
  selectUnindexedInvoices,
} from "./store.ts";
import { customerText, invoiceText } from "./words.ts";

/** Rows of each table in a pass, which is one batch. */
const A_PASS = 200;
const PASSES = 20;

/** At most 20 passes of 200 invoices and 200 customers. May be repeated at any point. */
export async function refreshIndex(db: Db): Promise<Left> {
  for (let pass = 0; pass < PASSES; pass++) {
    const [invoices, customers] = await batch(db, [
      selectUnindexedInvoices(db, A_PASS),
      selectUnindexedCustomers(db, A_PASS),
    ]);
    const rewordings = [
      ...invoices.map((row) => {
        const after = invoiceText(row);
        const reworded = rewordInvoice(db, { ...row, before: row.searchText ?? "", after });
        return [indexInvoice(db, row, after), ...reworded];
      }),
      ...customers.map((row) => {
        const after = customerText(row);
        const reworded = rewordCustomer(db, { ...row, before: row.searchText ?? "", after });
        return [indexCustomer(db, row, after), ...reworded];
      }),
    ];
    if (rewordings.length === 0) return "nothing";
    await commit(db, joinStatements(rewordings));
  }
  return "more";
}
