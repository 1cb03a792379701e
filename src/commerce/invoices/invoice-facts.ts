// An invoice in the audit log: what became of its money and where it is to be paid. The log is append-only and customers can be erased, so
// nothing that a merchant or a customer wrote is in it, only which fields changed.

import { formatMicros, formatUnits } from "../../lib/money.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";
import type { Invoice, PaymentMethod } from "./invoice.ts";
import { pairKey, pairOf } from "./payment-method.ts";

/** What the chain and the clock decide. */
export function stateFacts(invoice: Invoice): AuditFacts {
  const { status, receivedMicros, confirmedMicros, isLate, needsReview } = invoice;
  const amounts = { amountReceived: formatMicros(receivedMicros), amountConfirmed: formatMicros(confirmedMicros) };
  return { status, ...amounts, isLate, needsReview };
}

/** What each method asks for, by pair: `BTC_BTC.amount`, `BTC_BTC.rate`. */
export function quoteFacts(methods: readonly PaymentMethod[]): AuditFacts {
  return Object.fromEntries(
    methods.flatMap((method) => [
      [`${pairKey(method)}.amount`, amountOf(method)],
      [`${pairKey(method)}.rate`, method.rate],
    ]),
  );
}

/** A new invoice with its active methods. */
export function createdFacts(invoice: Invoice, active: readonly PaymentMethod[]): AuditFacts {
  const { status, amountMicros, currency, productId, origin } = invoice;
  const paymentMethods = active.map(pairKey);
  const terms = { rawAmount: formatMicros(amountMicros), currency, productId, origin };
  return { status, ...terms, paymentMethods, ...quoteFacts(active) };
}

export function methodFacts(method: PaymentMethod): AuditFacts {
  const { cryptocurrency, network, walletId, rate } = method;
  return { cryptocurrency, network, walletId, amount: amountOf(method), rate };
}

function amountOf(method: PaymentMethod): string | null {
  return method.amountUnits === null ? null : formatUnits(method.amountUnits, pairOf(method).asset.decimals);
}
