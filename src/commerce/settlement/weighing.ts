// Converts rows to the input of `value.ts`, and its results to columns of a payment's row.

import { pairOf } from "../../chains/registry/pair.ts";
import type { Invoice, PaymentMethod } from "../invoice-records/invoice.ts";
import type { Payment } from "../payments/payment.ts";
import { parseQuotes, printQuote, type Quote, quoteSlackMs } from "../quotes/quotes.ts";
import type { InvoiceFacts } from "./status.ts";
import { type PricedMethod, weighingOf } from "./value.ts";

/** The columns of a method that determine the value of its payments. */
export function pricedOf(
  method: PaymentMethod,
  { expiresAtMs: endMs, lateGraceUntilMs: untilMs }: Pick<Invoice, "expiresAtMs" | "lateGraceUntilMs">,
): PricedMethod {
  const { network, cryptocurrency } = method;
  const pair = pairOf(method);
  return {
    network,
    cryptocurrency,
    decimals: pair.asset.decimals,
    quotes: parseQuotes(method.quotes),
    slackMs: quoteSlackMs(pair.network),
    lateGrace: untilMs === null ? undefined : { endMs, untilMs },
  };
}

/** The payment, valued by the quote or rate that applied at its time. */
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

/** Returns a function that shows whether any of these payments was valued by a quote. */
export function usedBy(payments: readonly Pick<Payment, "weighedQuote">[]): (quote: Quote) => boolean {
  const used = new Set(payments.flatMap(({ weighedQuote }) => weighedQuote ?? []));
  return (quote) => used.has(printQuote(quote));
}
