// Facts of a stored invoice for `settle`, and what follows from the settlement as one change: used by reads that find an invoice due,
// by the sweep, by cancellation, and by whoever changes its payments.

import { changedFacts } from "../audit/entry.ts";
import { networkNamed } from "../chains/networks.ts";
import { watchesOf } from "../payments/cursor.ts";
import type { CreditedPayment } from "../payments/payment.ts";
import type { Change, ChangeEvent } from "./change-invoice.ts";
import type { Invoice, InvoiceFile, PaymentMethod } from "./invoice.ts";
import { stateFacts } from "./invoice-facts.ts";
import { pairOf } from "./payment-method.ts";
import { type InvoiceFacts, settle } from "./status.ts";
import type { PricedMethod } from "./value.ts";

/** What a settlement changes; undefined when the stored row already says it. `columns` are facts that change with it (a cancellation). */
export function settlementChange(file: InvoiceFile, nowMs: number, columns: Partial<Invoice> = {}): Change | undefined {
  const invoice = { ...file.invoice, ...columns };
  const settlement = settle(factsOf({ ...file, invoice }), file.payments.flatMap(creditedOf), nowMs);
  const { status, receivedMicros, confirmedMicros, isLate, needsReview, closedAtMs } = settlement;
  const [first, ...more] = settlement.events.map(
    ({ type, previousStatus }): ChangeEvent => ({ type, previousStatus: previousStatus ?? undefined }),
  );
  if (!settlement.hasChanged || first === undefined) return undefined;
  const settled = { status, receivedMicros, confirmedMicros, isLate, needsReview };
  const moves = settlement.moves.map(({ to }) => to);
  return {
    columns: { ...columns, ...settled, closedAtMs },
    moves,
    audit: {
      action: moves.length > 0 ? "invoice.status_changed" : "invoice.updated",
      ...changedFacts(stateFacts(file.invoice), stateFacts({ ...invoice, ...settled })),
    },
    events: [first, ...more],
  };
}

function factsOf({ invoice, methods, cursors }: InvoiceFile): InvoiceFacts {
  const resolution: InvoiceFacts["resolution"] = invoice.resolution === null ? null : JSON.parse(invoice.resolution);
  const active = methods.filter((method) => method.status === "ACTIVE");
  return {
    invoice,
    resolution,
    methods: methods.map(pricedOf),
    watches: watchesOf(
      active.map(({ network }) => network),
      cursors,
    ),
  };
}

function pricedOf(method: PaymentMethod): PricedMethod {
  const earlier: { amountUnits: string; quotedAtMs: number }[] = JSON.parse(method.earlierQuotes ?? "[]");
  const earlierQuotes = earlier.map((quote) => ({ ...quote, amountUnits: BigInt(quote.amountUnits) }));
  return { ...method, decimals: pairOf(method).asset.decimals, earlierQuotes };
}

function creditedOf(payment: InvoiceFile["payments"][number]): readonly CreditedPayment[] {
  const network = networkNamed(payment.network);
  if (network === undefined) throw new Error(`a payment on an unknown network: ${payment.network}`);
  return [{ ...payment, reorgWindowMs: network.reorgWindowBlocks * network.blockSeconds * 1_000 }];
}
