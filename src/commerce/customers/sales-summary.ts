// A customer's sales (decisions 10). Amounts in several currencies are not added up: rates change, and each invoice was paid in its own currency.
import { formatMicros } from "../../lib/money.ts";

/** A customer's invoices in one currency. */
export interface Sales {
  readonly currency: string;
  readonly invoices: number;
  /** PAID or OVERPAID. */
  readonly paidInvoices: number;
  /** The amount confirmed on the paid invoices, as decimal text of micro-units, because a sum may be too large for a number. */
  readonly paidMicros: string;
}

/**
 * The body of a customer's sales summary: `revenue` and `currency` are null if paid invoices are in several currencies, and `currency` also if
 * nothing is paid; `revenues` lists each currency.
 */
export function salesSummaryOf(sales: readonly Sales[]) {
  const paid = sales.filter(({ paidInvoices }) => paidInvoices > 0);
  const revenues = paid.map(({ currency, paidMicros }) => ({ currency, amount: formatMicros(BigInt(paidMicros)) }));
  const [first, second] = revenues;
  const totalInvoices = sales.reduce((sum, { invoices }) => sum + invoices, 0);
  const paidInvoices = sales.reduce((sum, each) => sum + each.paidInvoices, 0);
  return {
    revenue: second === undefined ? (first?.amount ?? formatMicros(0n)) : null,
    currency: second === undefined ? (first?.currency ?? null) : null,
    revenues,
    totalInvoices,
    paidInvoices,
    paidRate: totalInvoices === 0 ? 0 : Math.round((paidInvoices / totalInvoices) * 10_000) / 10_000,
  };
}
