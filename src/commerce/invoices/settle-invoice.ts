// Facts of a stored invoice for `settle`, and what follows from the settlement as one change: used by reads that find an invoice due,
// by the sweep, by cancellation, and by every change of its payments.

import { type Network, networkNamed } from "../../chains/networks.ts";
import type { PaymentId } from "../../lib/ids.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import type { EventType } from "../../platform/events/event.ts";
import { watchesOf } from "../cursors/cursor.ts";
import { type CreditedPayment, mergePayments, type Payment } from "../payments/payment.ts";
import type { Change, ChangeEvent } from "./change-invoice.ts";
import type { LatenessChange } from "./counting.ts";
import type { Invoice, InvoiceFile } from "./invoice.ts";
import { stateFacts } from "./invoice-facts.ts";
import { isAccepted } from "./resolution.ts";
import { type InvoiceFacts, settle } from "./status.ts";
import { pricedOf, weighed } from "./weighing.ts";

/** What happened to an invoice beside the clock. */
export interface Occasion {
  /** Facts of the invoice that change with it: a cancellation, a resolution. */
  readonly columns?: Partial<Invoice>;
  /** Payments that came, changed or went, as they are now. */
  readonly payments?: readonly Payment[];
  /** What there is to tell of them, in order; each is followed by what it does to the invoice. */
  readonly news?: readonly { readonly type: EventType; readonly paymentId: PaymentId }[];
}

/** What a settlement changes; undefined when the stored row already says it. */
export function settlementChange(file: InvoiceFile, nowMs: number, occasion: Occasion = {}): Change | undefined {
  const { columns = {}, payments: changed = [], news = [] } = occasion;
  const invoice = { ...file.invoice, ...columns };
  const facts = factsOf({ ...file, invoice });
  const payments = mergePayments(file.payments, changed).map((payment) => weighed(payment, facts));
  const settlement = settle(facts, payments.flatMap(creditedOf), nowMs);
  const reweighed = payments.filter(({ id, ...after }) => isReweighed(find(file.payments, id), after));
  const { status, receivedMicros, confirmedMicros, isLate, closedAtMs } = settlement;
  if (!settlement.hasChanged && changed.length === 0 && reweighed.length === 0) return undefined;
  // Set once, when it turns out that nothing prices the money: a cleared mark stays cleared.
  const isUnpriced = reweighed.some(({ weighedBy }) => weighedBy === "NO_RATE");
  const needsReview = settlement.needsReview || isUnpriced;
  const settledEvents = settlement.events.map(
    ({ type, previousStatus, paymentId }): ChangeEvent => ({
      type,
      previousStatus: previousStatus ?? undefined,
      paymentId: paymentId ?? undefined,
    }),
  );
  // A block that moved or a payment that became final has no event of its own, but every change writes an event.
  const [about] = [...changed, ...reweighed];
  const [first = { type: "payment.updated", paymentId: about?.id } as const, ...more] = [...news, ...settledEvents];
  const settled = { status, receivedMicros, confirmedMicros, isLate, needsReview };
  const moves = settlement.moves.map(({ to }) => to);
  return {
    columns: { ...columns, ...settled, closedAtMs },
    payments: marked(payments, [...changed, ...reweighed], settlement.lateness),
    moves,
    audit: {
      action: moves.length > 0 ? "invoice.status_changed" : "invoice.updated",
      ...changedFacts(stateFacts(file.invoice), stateFacts({ ...invoice, ...settled })),
    },
    events: [first, ...more],
  };
}

/** The payments to write: those that changed, and those whose mark of lateness did. */
function marked(
  payments: readonly Payment[],
  changed: readonly Payment[],
  lateness: readonly LatenessChange[],
): readonly Payment[] {
  return payments.flatMap((payment) => {
    const mark = lateness.find(({ id }) => id === payment.id);
    if (mark !== undefined) return [{ ...payment, isLate: mark.isLate }];
    return changed.some(({ id }) => id === payment.id) ? [payment] : [];
  });
}

function factsOf({ invoice, methods, cursors }: InvoiceFile): InvoiceFacts {
  const active = methods.filter((method) => method.status === "ACTIVE");
  return {
    invoice,
    resolution: isAccepted(invoice.resolution) ? { action: "ACCEPT" } : null,
    methods: methods.map(pricedOf),
    watches: watchesOf(
      active.map(({ network }) => network),
      cursors,
    ),
  };
}

function isReweighed(
  before: Payment | undefined,
  after: Pick<Payment, "fiatMicros" | "weighedBy" | "weighedQuote">,
): boolean {
  return (
    before === undefined ||
    before.fiatMicros !== after.fiatMicros ||
    before.weighedBy !== after.weighedBy ||
    before.weighedQuote !== after.weighedQuote
  );
}

function find(payments: readonly Payment[], id: PaymentId): Payment | undefined {
  return payments.find((payment) => payment.id === id);
}

function creditedOf(payment: InvoiceFile["payments"][number]): readonly CreditedPayment[] {
  const network = networkNamed(payment.network);
  if (network === undefined) throw new Error(`a payment on an unknown network: ${payment.network}`);
  return [{ ...payment, reorgWindowMs: reorgWindowMs(network) }];
}

/** How long after it left the chain a payment may still be mined again. */
export function reorgWindowMs(network: Pick<Network, "reorgWindowBlocks" | "blockSeconds">): number {
  return network.reorgWindowBlocks * network.blockSeconds * 1_000;
}
