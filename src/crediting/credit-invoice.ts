// One change of one invoice with everything a look saw of its payments: those that are new to it and those that it has. Decided anew whenever
// another writer was first, so that a transfer that was written meanwhile is looked at again and never doubled.
import { changedFacts, SYSTEM_TRAIL } from "../audit/entry.ts";
import type { Network } from "../chains/networks.ts";
import { isConflictOn } from "../db/conflict.ts";
import type { Failure } from "../failures.ts";
import { countOnce } from "../growth/read-growth.ts";
import { type Change, type ChangeEffects, changeInvoice } from "../invoices/change-invoice.ts";
import type { Invoice, InvoiceFile } from "../invoices/invoice.ts";
import { stateFacts } from "../invoices/invoice-facts.ts";
import type { AmountEffects } from "../invoices/reserve-amount.ts";
import { settlementChange } from "../invoices/settle-invoice.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { isSeen, type Payment, type StoredPayment } from "../payments/payment.ts";
import { type ChainHeights, newPayment, newsOf, paymentAfter, type Sight, sightOf } from "../payments/sight.ts";
import { growthHeight, type Transfer, transferKey } from "../payments/transfer.ts";
import { evidenceOf } from "./evidence.ts";
import type { Place } from "./placement.ts";
import { dropStatements } from "./record-stray.ts";
import { reserveRemainders } from "./reserve-remainder.ts";
import { assertTransfersNew, recountGap } from "./store.ts";

export type CreditEffects = Omit<ChangeEffects, "trail"> & AmountEffects;

/** A transfer that a rule credits. */
export interface Credit {
  readonly transfer: Transfer;
  readonly place: Extract<Place, { kind: "invoice" }>;
  readonly usdMicros: bigint | null;
  /** False where a second provider must agree first. */
  readonly mayConfirm: boolean;
  /** Rows of growth that it explains; those that are no invoice's are dropped in the same batch. */
  readonly replaces?: readonly Payment[];
}

export interface Seen {
  readonly payment: Payment;
  readonly sight: Sight;
  readonly mayConfirm?: boolean;
}

export interface InvoiceLook {
  readonly network: Network;
  readonly heights: ChainHeights;
  readonly credits: readonly Credit[];
  readonly seen: readonly Seen[];
  /** There are more credits than the invoice has room for, kept for a person, who is to look at it. */
  readonly isOver?: boolean;
}

/** True when the invoice was changed. CONTENTION where another row has one of the transfers: the next look finds it there. */
export async function creditInvoice(
  fx: CreditEffects,
  file: InvoiceFile,
  look: InvoiceLook,
): Promise<Result<boolean, Failure>> {
  const { merchantId, id } = file.invoice;
  const lostSalts: number[] = [];
  let tried: readonly number[] = [];
  let isChanged = false;
  const clock = { ...fx, trail: SYSTEM_TRAIL };
  const done = await changeInvoice(clock, { merchantId, id, read: file }, async (read, conflict, operationId) => {
    if (conflict?.kind === "assertion" || isConflictOn(conflict, "payments")) return err({ code: "CONTENTION" });
    if (isConflictOn(conflict, "amount_reservations")) lostSalts.push(...tried);
    const change = changeOf(fx, read, look, operationId);
    isChanged = change !== undefined;
    if (change === undefined) return ok(undefined);
    const whole = await withRemainders(fx, read, change, { operationId, lostSalts });
    tried = whole.tried;
    return ok(whole.change);
  });
  return done.ok ? ok(isChanged) : done;
}

function changeOf(fx: CreditEffects, file: InvoiceFile, look: InvoiceLook, operationId: string): Change | undefined {
  const pairs = [...seenPairs(file, look, fx.nowMs), ...creditPairs(file, look, fx.nowMs, operationId)];
  const changed = pairs.filter(({ before, after }) => before !== after);
  const news = changed.flatMap(({ before, after }) =>
    newsOf(before, after).map((type) => ({ type, paymentId: after.id })),
  );
  const needsReview = changed.some((pair) => pair.needsReview);
  const change = settlementChange(file, fx.nowMs, {
    ...(needsReview || look.isOver === true ? { columns: { needsReview: true } } : {}),
    payments: changed.map(({ after }) => after),
    news,
  });
  if (change === undefined) return look.isOver === true ? reviewChange(file.invoice) : undefined;
  const wallets = new Set(
    changed.flatMap(({ before, after }) => {
      if ((before !== undefined && isSeen(before)) === isSeen(after)) return [];
      const own = file.methods.find(
        (method) =>
          method.addressIndex !== null && method.network === after.network && method.address === after.toAddress,
      );
      return own === undefined ? [] : [own.walletId];
    }),
  );
  const fresh = changed.flatMap(({ created }) => created ?? []);
  const replaced = look.credits.flatMap(({ replaces = [] }) => replaces);
  const strays = replaced.filter(({ invoiceId }) => invoiceId === null);
  return {
    ...change,
    asserts: [
      ...(fresh.length === 0 ? [] : [assertTransfersNew(fx.db, look.network.name, fresh)]),
      ...countOnce(fx.db, look.network, fresh, droppedWith(file, replaced)),
    ],
    statements: [
      ...strays.flatMap((payment) => dropStatements(fx, payment, look)),
      ...[...wallets].map((walletId) => recountGap(fx.db, walletId)),
    ],
  };
}

/** Nothing but the mark; undefined where the invoice has it. */
function reviewChange(invoice: Invoice): Change | undefined {
  if (invoice.needsReview) return undefined;
  const columns = { needsReview: true };
  const facts = changedFacts(stateFacts(invoice), stateFacts({ ...invoice, ...columns }));
  return { columns, events: [{ type: "invoice.updated" }], audit: { action: "invoice.updated", ...facts } };
}

/** Growth that this batch drops: this invoice's own, which was seen as replaced, and nobody's. What another invoice has was dropped before. */
function droppedWith(file: InvoiceFile, replaced: readonly Payment[]): readonly Payment[] {
  return replaced.filter(({ invoiceId }) => invoiceId === null || invoiceId === file.invoice.id);
}

interface Pair {
  readonly before: Payment | undefined;
  readonly after: Payment;
  /** `after`, where it has no row yet. */
  readonly created?: StoredPayment;
  /** A person is to look at the invoice because of this change. */
  readonly needsReview: boolean;
}

/** Payments that the invoice has, as they stand now: whoever assigned or credited them. */
function seenPairs(file: InvoiceFile, look: InvoiceLook, nowMs: number): readonly Pair[] {
  const { network, heights, seen } = look;
  return seen.flatMap(({ payment, sight, mayConfirm = true }) => {
    const before = file.payments.find(({ id }) => id === payment.id);
    if (before === undefined) return [];
    const after = paymentAfter(before, sight, { network, heights, nowMs, mayConfirm });
    return [{ before, after, needsReview: isUndone(before, sight, look.credits) }];
  });
}

/**
 * Whether a person's word is taken back: growth that somebody assigned, and that turns out to be a transaction which does not bring this invoice
 * as much. Rules decide about the transaction, and whoever assigned must hear of it.
 */
function isUndone(before: Payment, sight: Sight, credits: readonly Credit[]): boolean {
  if (sight.kind !== "replaced" || before.matchedBy !== "MANUAL" || growthHeight(before.txHash) === undefined)
    return false;
  const by = credits.find(({ replaces = [] }) => replaces.some(({ id }) => id === before.id));
  return by === undefined || by.transfer.amountUnits < before.amountUnits;
}

function creditPairs(
  file: InvoiceFile,
  { network, heights, credits }: InvoiceLook,
  nowMs: number,
  operationId: string,
): readonly Pair[] {
  return credits.map(({ transfer, place, usdMicros, mayConfirm }, n) => {
    const context = { network, heights, nowMs, mayConfirm };
    const before = file.payments.find(
      (each) => each.network === network.name && transferKey(each) === transferKey(transfer),
    );
    if (before !== undefined) {
      return { before, after: paymentAfter(before, sightOf(transfer), context), needsReview: false };
    }
    const { invoice, method } = place.terms;
    const after = newPayment({
      id: derivedId("pay", operationId, n),
      merchantId: invoice.merchantId,
      transfer,
      placement: {
        kind: "CREDITED",
        invoiceId: invoice.id,
        matchedBy: place.matchedBy,
        marketMicros: place.marketMicros,
      },
      requiredConfirmations: method.requiredConfirmations,
      usdMicros,
      evidence: evidenceOf(transfer, []),
      context,
    });
    return { before, after, created: after, needsReview: place.needsReview };
  });
}

/** The change, and what it leaves due at shared addresses reserved; `tried`: numbers of the new amounts, for the next try after a collision. */
export async function withRemainders(
  fx: AmountEffects,
  file: InvoiceFile,
  change: Change,
  of: { readonly operationId: string; readonly lostSalts: readonly number[] },
): Promise<{ readonly change: Change; readonly tried: readonly number[] }> {
  const { status, receivedMicros } = { ...file.invoice, ...change.columns };
  const after = { status: change.moves?.at(-1) ?? status, receivedMicros };
  const { methods, statements, tried } = await reserveRemainders(fx, file, after, of);
  if (methods.length === 0) return { change, tried };
  return { change: { ...change, methods, statements: [...(change.statements ?? []), ...statements] }, tried };
}
