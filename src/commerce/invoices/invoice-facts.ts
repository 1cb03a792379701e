// An invoice in the audit log: its money and its payment methods. The log is append-only and customers can be erased, so it never holds the values
// that a merchant or a customer wrote, only which fields changed.

import { pairKey, pairOf } from "../../chains/registry/pair.ts";
import { formatMicros, formatUnits } from "../../lib/money.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";
import type { Invoice, PaymentMethod } from "../invoice-records/invoice.ts";

/** The values that follow from the chain and the clock. */
export function stateFacts(invoice: Invoice): AuditFacts {
  const { status, receivedMicros, confirmedMicros, isLate, needsReview } = invoice;
  const amounts = { amountReceived: formatMicros(receivedMicros), amountConfirmed: formatMicros(confirmedMicros) };
  return { status, ...amounts, isLate, needsReview };
}

/** Each method's amount and rate, by pair: `BTC_BTC.amount`, `BTC_BTC.rate`. */
export function quoteFacts(methods: readonly PaymentMethod[]): AuditFacts {
  return Object.fromEntries(
    methods.flatMap((method) => [
      [`${pairKey(method)}.amount`, amountOf(method)],
      [`${pairKey(method)}.rate`, method.rate],
    ]),
  );
}

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
