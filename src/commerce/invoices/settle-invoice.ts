// Prepares a stored invoice for `settle`, and turns the settlement into one change. Used by reads that find an invoice due, by the sweep, by
// cancellation, and by every change to the invoice's payments.

import { type Network, networkNamed } from "../../chains/registry/networks.ts";
import type { PaymentId } from "../../lib/ids.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import type { EventType } from "../../platform/events/event.ts";
import { watchesOf } from "../cursors/cursor.ts";
import type { Invoice, InvoiceFile } from "../invoice-records/invoice.ts";
import { isAccepted, lateTerms } from "../invoice-records/resolution.ts";
import { type CreditedPayment, mergePayments, type Payment } from "../payments/payment.ts";
import type { LatenessChange } from "../settlement/counting.ts";
import { type InvoiceFacts, settle } from "../settlement/status.ts";
import { pricedOf, weighed } from "../settlement/weighing.ts";
import type { Change, ChangeEvent } from "./change-invoice.ts";
import { stateFacts } from "./invoice-facts.ts";

/** What caused a settlement, besides the passing of time. */
export interface Occasion {
  /** The columns that a cancellation or a resolution changes. */
  readonly columns?: Partial<Invoice>;
  /** Payments that arrived, changed or left the chain, in their new state. */
  readonly payments?: readonly Payment[];
  /** The payments' own events, in order; the invoice's events follow. */
  readonly events?: readonly { readonly type: EventType; readonly paymentId: PaymentId }[];
}

/** What a settlement changes; undefined if the stored row is already up to date. */
export function settlementChange(file: InvoiceFile, nowMs: number, occasion: Occasion = {}): Change | undefined {
  const { columns = {}, payments: changed = [], events = [] } = occasion;
  const invoice = { ...file.invoice, ...columns };
  const facts = factsOf({ ...file, invoice });
  const payments = mergePayments(file.payments, changed).map((payment) => weighed(payment, facts));
  const settlement = settle(facts, payments.flatMap(creditedOf), nowMs);
  const reweighed = payments.filter(({ id, ...after }) => isReweighed(find(file.payments, id), after));
  const { status, receivedMicros, confirmedMicros, isLate, closedAtMs } = settlement;
  if (!settlement.hasChanged && changed.length === 0 && reweighed.length === 0) return undefined;
  // Set only once, when a payment is found to have no price: if a user clears it, it stays cleared.
  const isUnpriced = reweighed.some(({ weighedBy }) => weighedBy === "NO_RATE");
  const needsReview = settlement.needsReview || isUnpriced;
  const settledEvents = settlement.events.map(
    ({ type, previousStatus, paymentId }): ChangeEvent => ({
      type,
      previousStatus: previousStatus ?? undefined,
      paymentId: paymentId ?? undefined,
    }),
  );
  // A payment that moved to another block or became final has no event of its own, but every change must have an event.
  const [about] = [...changed, ...reweighed];
  const [first = { type: "payment.updated", paymentId: about?.id } as const, ...more] = [...events, ...settledEvents];
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

/** The payments to write: those that changed, and those whose `isLate` mark changed. */
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
    invoice: { ...invoice, ...lateTerms(invoice) },
    resolution: isAccepted(invoice.resolution) ? { action: "ACCEPT" } : null,
    methods: methods.map((method) => pricedOf(method, invoice)),
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
  if (network === undefined) throw new Error(`a payment has an unknown network: ${payment.network}`);
  return [{ ...payment, reorgWindowMs: reorgWindowMs(network) }];
}

/** How long after leaving the chain a payment may still be mined again. */
export function reorgWindowMs(network: Pick<Network, "reorgWindowBlocks" | "blockSeconds">): number {
  return network.reorgWindowBlocks * network.blockSeconds * 1_000;
}
