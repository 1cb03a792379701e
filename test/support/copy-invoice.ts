// Copies an invoice's rows many times, to test that a large number of invoices does not slow anything down.
import { env } from "cloudflare:workers";
import { getTableColumns } from "drizzle-orm";
import type { InvoiceId } from "../../src/lib/ids.ts";
import { invoices, paymentMethods } from "../../src/platform/db/schema/invoices.ts";

/** Copies the invoice, its words and its methods many times under new ids. */
export async function copyInvoice(id: InvoiceId, count: number): Promise<void> {
  const names = (table: typeof invoices | typeof paymentMethods, own: string) =>
    Object.values<{ readonly name: string }>(getTableColumns(table))
      .map(({ name }) => name)
      .filter((name) => name !== own)
      .join(", ");
  const copies = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
  const [ofInvoice, ofMethod] = [names(invoices, "id"), names(paymentMethods, "invoice_id")];
  const words = "search_words where kind = 'I' and id = ?1";
  await env.DB.batch([
    env.DB.prepare(
      `${copies} insert into invoices (id, ${ofInvoice}) select ?1 || i, ${ofInvoice} from invoices, n where id = ?1`,
    ).bind(id),
    env.DB.prepare(
      `${copies} insert into payment_methods (invoice_id, ${ofMethod}) select ?1 || i, ${ofMethod} from payment_methods, n where invoice_id = ?1`,
    ).bind(id),
    env.DB.prepare(
      `${copies} insert into search_words (merchant_id, kind, word, id) select merchant_id, kind, word, ?1 || i from n, ${words}`,
    ).bind(id),
  ]);
}
