// Applies everything that a read of the chain found about an invoice's payments, new and known, in one change. If another writer was faster,
// decides again from a fresh read, so that a transfer written meanwhile never counts twice.

import type { Network } from "../../chains/registry/networks.ts";
import { effectKey, growthHeight, type Transfer } from "../../chains/sources/transfer.ts";
import type { Invoice, InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import { type Change, type ChangeDependencies, changeInvoice } from "../../commerce/invoices/change-invoice.ts";
import { stateFacts } from "../../commerce/invoices/invoice-facts.ts";
import { settlementChange } from "../../commerce/invoices/settle-invoice.ts";
import type { AmountDependencies } from "../../commerce/payment-methods/reserve-amount.ts";
import { reserveRemainders } from "../../commerce/payment-methods/reserve-remainder.ts";
import {
  type ChainHeights,
  type ChainObservation,
  newPayment,
  observationOf,
  paymentAfter,
  paymentEvents,
} from "../../commerce/payments/chain-observation.ts";
import { evidenceOf } from "../../commerce/payments/match.ts";
import { isSeen, type Payment, type StoredPayment } from "../../commerce/payments/payment.ts";
import { derivedId, type PaymentId, type WalletId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { changedFacts, SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import type { Db } from "../../platform/db/client.ts";
import { isConflictOn } from "../../platform/db/conflict.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import { comingIn, countOnce } from "../growth/read-growth.ts";
import type { Seen } from "./look-progress.ts";
import type { Placement } from "./placement.ts";
import { dropStatements } from "./record-observations.ts";
import { assertTransfersNew, recountGap } from "./store.ts";

export type CreditDependencies = Omit<ChangeDependencies, "trail"> &
  AmountDependencies & {
    /** Called when a change has made an invoice PAID. `seconds`: time since the block of its last payment. */
    readonly notePaid?: (paid: {
      readonly merchantId: string;
      readonly network: string;
      readonly seconds: number;
    }) => void;
  };

/** A transfer that a rule credits. */
export interface Credit {
  readonly transfer: Transfer;
  readonly place: Extract<Placement, { kind: "invoice" }>;
  readonly usdMicros: bigint | null;
  /** False if a second provider must agree first. */
  readonly mayConfirm: boolean;
  /** Rows of growth that the transfer explains; the same batch removes those without an invoice. */
  readonly replaces: readonly Payment[];
  /**
   * Rows with the transfer's identity but a different effect. Those of the same invoice are observed as superseded in the same change; all others
   * were superseded earlier.
   */
  readonly supersedes: readonly Payment[];
}

interface InvoiceFindings {
  readonly network: Network;
  readonly heights: ChainHeights;
  readonly credits: readonly Credit[];
  readonly seen: readonly Seen[];
  /** Whether some of the credits exceed the invoice's limit: these are kept unmatched, and a user must review the invoice. */
  readonly isOver?: boolean;
}

/** True if the invoice changed. CONTENTION if another row already has one of the transfers: the next pass finds that row. */
export async function creditInvoice(
  deps: CreditDependencies,
  file: InvoiceFile,
  findings: InvoiceFindings,
): Promise<Result<boolean, Failure>> {
  const { merchantId, id } = file.invoice;
  let isChanged = false;
  let wasPaid = false;
  const clock = { ...deps, trail: SYSTEM_TRAIL };
  const done = await changeInvoice(clock, { merchantId, id, read: file }, async (read, conflict, operationId) => {
    if (conflict?.kind === "assertion" || isConflictOn(conflict, "payments")) return err({ code: "CONTENTION" });
    const change = changeOf(deps, read, findings, operationId);
    wasPaid = read.invoice.status === "PAID";
    isChanged = change !== undefined;
    if (change === undefined) return ok(undefined);
    return ok(await withRemainders(deps, read, change));
  });
  if (!done.ok) return done;
  if (isChanged && !wasPaid) notePaid(deps, done.value, findings.network.name);
  return ok(isChanged);
}

export function notePaid(deps: CreditDependencies, { invoice, payments }: InvoiceFile, network: string): void {
  if (invoice.status !== "PAID") return;
  const lastMs = Math.max(...payments.flatMap(({ blockTimeMs }) => blockTimeMs ?? []));
  if (Number.isFinite(lastMs))
    deps.notePaid?.({ merchantId: invoice.merchantId, network, seconds: Math.max(0, deps.nowMs - lastMs) / SECOND_MS });
}

function changeOf(
  deps: CreditDependencies,
  file: InvoiceFile,
  findings: InvoiceFindings,
  operationId: string,
): Change | undefined {
  const decided = decideCredits(deps, file, findings, operationId);
  if (decided === undefined) return findings.isOver === true ? reviewChange(file.invoice) : undefined;
  const { change, fresh, coming, walletIds } = decided;
  const replaced = [...new Set(findings.credits.flatMap(({ replaces }) => replaces))];
  const unmatchedPayments = replaced.filter(({ invoiceId }) => invoiceId === null);
  return {
    ...change,
    asserts: [
      ...newOnce(deps.db, findings.network, fresh, supersededIds(findings)),
      ...countOnce(deps.db, findings.network, [...fresh, ...coming], droppedWith(file, replaced)),
    ],
    statements: [
      ...unmatchedPayments.flatMap((payment) => dropStatements(deps, payment, findings)),
      ...walletIds.map((walletId) => recountGap(deps.db, walletId)),
    ],
  };
}

/** The decision about one invoice: its change, and what else the batch must assert and write. */
interface DecidedCredits {
  readonly change: Change;
  /** Payments that have no row yet. */
  readonly fresh: readonly StoredPayment[];
  /** Known payments that were found in a new block. */
  readonly coming: ReturnType<typeof comingIn>;
  /** Wallets whose gap of unpaid addresses changes. */
  readonly walletIds: readonly WalletId[];
}

/** Undefined if nothing changes. */
export function decideCredits(
  deps: CreditDependencies,
  file: InvoiceFile,
  findings: InvoiceFindings,
  operationId: string,
): DecidedCredits | undefined {
  const pairs = [...seenPairs(file, findings, deps.nowMs), ...creditPairs(file, findings, deps.nowMs, operationId)];
  const changed = pairs.filter(({ before, after }) => before !== after);
  const events = changed.flatMap(({ before, after }) =>
    paymentEvents(before, after).map((type) => ({ type, paymentId: after.id })),
  );
  const needsReview = changed.some((pair) => pair.needsReview);
  const change = settlementChange(file, deps.nowMs, {
    ...(needsReview || findings.isOver === true ? { columns: { needsReview: true } } : {}),
    payments: changed.map(({ after }) => after),
    events,
  });
  if (change === undefined) return undefined;
  const walletIds = changed.flatMap(({ before, after }) => {
    if ((before !== undefined && isSeen(before)) === isSeen(after)) return [];
    const own = file.methods.find(
      (method) =>
        method.addressIndex !== null && method.network === after.network && method.address === after.toAddress,
    );
    return own === undefined ? [] : [own.walletId];
  });
  return {
    change,
    fresh: changed.flatMap(({ created }) => created ?? []),
    coming: comingIn(changed),
    walletIds: [...new Set(walletIds)],
  };
}

/** Aborts the batch if another row already has one of the transfers. */
export function newOnce(
  db: Db,
  network: Network,
  fresh: readonly StoredPayment[],
  superseded: readonly PaymentId[] = [],
): readonly Write[] {
  return fresh.length === 0 ? [] : [assertTransfersNew(db, network.name, fresh, superseded)];
}

function supersededIds({ seen }: InvoiceFindings): readonly PaymentId[] {
  return seen.flatMap(({ payment, observation }) => (observation.kind === "superseded" ? [payment.id] : []));
}

/** Sets only `needsReview`; undefined if it is already set. */
function reviewChange(invoice: Invoice): Change | undefined {
  if (invoice.needsReview) return undefined;
  const columns = { needsReview: true };
  const facts = changedFacts(stateFacts(invoice), stateFacts({ ...invoice, ...columns }));
  return { columns, events: [{ type: "invoice.updated" }], audit: { action: "invoice.updated", ...facts } };
}

/**
 * Growth that this batch removes: this invoice's own, observed as replaced, and growth without an invoice. Growth of other invoices was removed
 * earlier.
 */
function droppedWith(file: InvoiceFile, replaced: readonly Payment[]): readonly Payment[] {
  return replaced.filter(({ invoiceId }) => invoiceId === null || invoiceId === file.invoice.id);
}

interface Pair {
  readonly before: Payment | undefined;
  readonly after: Payment;
  /** The payment after the change, if it has no row yet. */
  readonly created?: StoredPayment;
  /** Whether a user must review the invoice because of this change. */
  readonly needsReview: boolean;
  readonly isUnweighed?: boolean;
}

/** The invoice's known payments with their new observations, whether a rule credited them or a user assigned them. */
function seenPairs(file: InvoiceFile, findings: InvoiceFindings, nowMs: number): readonly Pair[] {
  const { network, heights, seen } = findings;
  return seen.flatMap(({ payment, observation, mayConfirm = true, isUnweighed = false }) => {
    const before = file.payments.find(({ id }) => id === payment.id);
    if (before === undefined) return [];
    const after = paymentAfter(before, observation, { network, heights, nowMs, mayConfirm });
    return [{ before, after, isUnweighed, needsReview: isUndone(before, observation, findings.credits) }];
  });
}

/**
 * Whether a user must review the invoice: money that counted now has a different amount or owner, or a user had assigned growth and the transaction
 * that explains it credits less or nothing. The rules decide about that transaction.
 */
function isUndone(before: Payment, observation: ChainObservation, credits: readonly Credit[]): boolean {
  if (observation.kind === "superseded") return isSeen(before);
  if (observation.kind !== "replaced" || before.matchedBy !== "MANUAL" || growthHeight(before.txHash) === undefined)
    return false;
  const by = credits.find(({ replaces }) => replaces.some(({ id }) => id === before.id));
  return by === undefined || by.transfer.amountUnits < before.amountUnits;
}

function creditPairs(
  file: InvoiceFile,
  { network, heights, credits }: InvoiceFindings,
  nowMs: number,
  operationId: string,
): readonly Pair[] {
  return credits.map(({ transfer, place, usdMicros, mayConfirm, supersedes }, n) => {
    const context = { network, heights, nowMs, mayConfirm };
    const before = file.payments.find(
      (each) => each.network === network.name && effectKey(each) === effectKey(transfer),
    );
    if (before !== undefined) {
      return { before, after: paymentAfter(before, observationOf(transfer), context), needsReview: false };
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
      evidence: evidenceOf(transfer, { merchantId: invoice.merchantId, refused: [], supersedes }),
      context,
    });
    return { before, after, created: after, needsReview: place.needsReview };
  });
}

/** Adds to the change the new amounts at shared addresses, for what remains to be paid. */
export async function withRemainders(deps: AmountDependencies, file: InvoiceFile, change: Change): Promise<Change> {
  const { methods, statements } = await reserveRemainders(deps, file, stateAfter(file, change));
  if (methods.length === 0) return change;
  return { ...change, methods, statements: [...(change.statements ?? []), ...statements] };
}

/** The facts that decide how much is still due once the change is stored. */
export function stateAfter({ invoice }: InvoiceFile, { columns, moves }: Change) {
  const { status, receivedMicros } = { ...invoice, ...columns };
  return { status: moves?.at(-1) ?? status, receivedMicros };
}
