// Rows as the rules of worth take them, and what the rules say as a payment's row keeps it.
import type { Payment } from "../payments/payment.ts";
import type { Invoice, PaymentMethod } from "./invoice.ts";
import { pairOf } from "./payment-method.ts";
import { parseQuotes, printQuote, type Quote, quoteSlackMs } from "./quotes.ts";
import type { InvoiceFacts } from "./status.ts";
import { type PricedMethod, weighingOf } from "./value.ts";

/** The method as payments are weighed against it. */
export function pricedOf(method: PaymentMethod): PricedMethod {
  const { network, cryptocurrency } = method;
  const pair = pairOf(method);
  return {
    network,
    cryptocurrency,
    decimals: pair.asset.decimals,
    quotes: parseQuotes(method.quotes),
    slackMs: quoteSlackMs(pair.network),
  };
}

/** The payment with what weighs it as of its time, and what it is worth by that. */
export function weighed(
  payment: Payment,
  { invoice, methods }: Pick<InvoiceFacts, "methods"> & { readonly invoice: Pick<Invoice, "amountMicros"> },
): Payment {
  const { by, micros } = weighingOf(payment, { expectedMicros: invoice.amountMicros, methods });
  const unquoted = micros === null ? "NO_RATE" : "MARKET_RATE";
  return {
    ...payment,
    fiatMicros: micros,
    weighedBy: by?.rule ?? unquoted,
    weighedQuote: by === null ? null : printQuote(by.quote),
  };
}

/** Whether money is weighed by a quote, as the rows of the payments say. */
export function usedBy(payments: readonly Pick<Payment, "weighedQuote">[]): (quote: Quote) => boolean {
  const used = new Set(payments.flatMap(({ weighedQuote }) => weighedQuote ?? []));
  return (quote) => used.has(printQuote(quote));
}
