// What an observation of the chain makes of a payment (decisions 4 and 5). A payment is a function of its newest observation, the
// earliest time it was seen, and the decisions about it; so the number of observations does not matter.
import type { Network } from "../../chains/network.ts";
import type { BlockRef, Transfer } from "../../chains/transfer.ts";
import type { InvoiceId, MerchantId, PaymentId } from "../../lib/ids.ts";
import { HOUR_MS } from "../../lib/time.ts";
import { printJson } from "../../lib/typed-json.ts";
import {
  isSeen,
  type MatchRule,
  type Payment,
  type PaymentEvidence,
  type PaymentStatus,
  type StoredPayment,
} from "./payment.ts";

export type ChainObservation =
  /** In a block of the best chain. */
  | { readonly kind: "mined"; readonly block: BlockRef }
  /** Known, and in no block. */
  | { readonly kind: "pending" }
  /** No source that was asked knows it, or its transaction no longer makes this transfer (reverted where it is now). */
  | { readonly kind: "unknown" }
  /** Something else spent what it spent: it can never be mined. */
  | { readonly kind: "replaced" };

export interface ChainHeights {
  readonly tipHeight: number;
  /** Null where the chain calls nothing final. */
  readonly finalizedHeight: number | null;
}

export interface ObservationContext {
  readonly network: Network;
  readonly heights: ChainHeights;
  readonly nowMs: number;
  /** False holds a payment at DETECTED: two providers must agree first. */
  readonly mayConfirm?: boolean;
}

/** An unconfirmed payment that no source has known for this long is DROPPED (decisions 4); before that, a source may forget it. */
export const DROPPED_AFTER_MS = 72 * HOUR_MS;

/**
 * `lastKnownAtMs` of an unconfirmed payment that is still known is written once it is this old, not at every observation. The payment is
 * dropped by as much later, and never earlier than 72 hours after it was last known.
 */
export const KNOWN_EVERY_MS = 6 * HOUR_MS;

export function observationOf(transfer: Pick<Transfer, "block">): ChainObservation {
  return transfer.block === null ? { kind: "pending" } : { kind: "mined", block: transfer.block };
}

/** Where a new payment belongs: to an invoice, to nobody yet, or nowhere (dust; never reported). */
export type Placement =
  | {
      readonly kind: "CREDITED";
      readonly invoiceId: InvoiceId;
      readonly matchedBy: MatchRule;
      /** Worth now at the market rate, in micro-units of the invoice currency; null without a fresh rate. */
      readonly marketMicros: bigint | null;
    }
  | { readonly kind: "UNMATCHED" }
  | { readonly kind: "IGNORED" };

export interface NewPayment {
  readonly id: PaymentId;
  readonly merchantId: MerchantId;
  readonly transfer: Transfer;
  readonly placement: Placement;
  /** Of the method, or of the wallet where no invoice is credited. */
  readonly requiredConfirmations: number;
  /** Worth now in US dollars; null where no rate is known. */
  readonly usdMicros: bigint | null;
  readonly evidence: PaymentEvidence;
  readonly context: ObservationContext;
}

/** The row of a transfer that is seen for the first time. */
export function newPayment(of: NewPayment): StoredPayment {
  const { transfer, placement, context } = of;
  const { network, nowMs } = context;
  const isCredited = placement.kind === "CREDITED";
  const unseen: Payment = {
    id: of.id,
    merchantId: of.merchantId,
    invoiceId: isCredited ? placement.invoiceId : null,
    network: network.name,
    cryptocurrency: transfer.cryptocurrency,
    chainId: network.chainId,
    txHash: transfer.txHash,
    outputIndex: transfer.outputIndex,
    fromAddress: transfer.fromAddress,
    toAddress: transfer.toAddress,
    amountUnits: transfer.amountUnits,
    fiatMicros: null,
    marketMicros: isCredited ? placement.marketMicros : null,
    weighedBy: null,
    weighedQuote: null,
    usdMicros: of.usdMicros,
    status: isCredited ? "DETECTED" : placement.kind,
    confirmations: 0,
    requiredConfirmations: of.requiredConfirmations,
    blockHeight: null,
    blockHash: null,
    blockTimeMs: null,
    isLate: false,
    matchedBy: isCredited ? placement.matchedBy : null,
    receivedAtMs: transfer.block?.timeMs ?? nowMs,
    confirmedAtMs: null,
    reorgedAtMs: null,
    lastKnownAtMs: nowMs,
    finalAtMs: null,
    wasIgnored: false,
    resolution: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  return { ...paymentAfter(unseen, observationOf(transfer), context), evidence: printJson(of.evidence) };
}

/**
 * The payment after an observation; the same object when nothing is to be written. A growing number of confirmations alone is not written:
 * the number shown is counted from the network's tip. Also for a payment just assigned to an invoice, with its last observation.
 */
export function paymentAfter(payment: Payment, observation: ChainObservation, context: ObservationContext): Payment {
  switch (observation.kind) {
    case "mined":
      return afterMined(payment, observation.block, context);
    case "pending":
      return afterPending(payment, context);
    case "unknown":
      return afterUnknown(payment, context);
    case "replaced":
      return afterReplaced(payment, context);
  }
}

/**
 * In a block. CONFIRMED by depth or because the chain calls its block final, and for as long as it is in that very block, whatever a
 * lagging tip says.
 */
function afterMined(payment: Payment, block: BlockRef, context: ObservationContext): Payment {
  const { nowMs, heights, network } = context;
  const isSameBlock = payment.blockHash === block.hash && payment.blockHeight === block.height;
  const confirmations = Math.max(0, heights.tipHeight - block.height + 1);
  const required = Math.max(1, payment.requiredConfirmations);
  const isFinalized = confirmations > 0 && heights.finalizedHeight !== null && block.height <= heights.finalizedHeight;
  const isDeep = heights.finalizedHeight === null && confirmations >= Math.max(required, network.reorgWindowBlocks);
  const isConfirmed =
    (isSameBlock && payment.status === "CONFIRMED") ||
    (context.mayConfirm !== false && (isFinalized || confirmations >= required));
  const status = isConfirmed ? statusSeen(payment, "CONFIRMED") : statusSeen(payment, "DETECTED");
  const standing = isSameBlock ? payment.finalAtMs : null;
  const whenDeep = isFinalized || isDeep ? (standing ?? nowMs) : standing;
  const finalAtMs = status === "DETECTED" ? null : whenDeep;
  if (isSameBlock && status === payment.status && finalAtMs === payment.finalAtMs) return payment;
  return {
    ...payment,
    status,
    confirmations: isSameBlock ? Math.max(confirmations, payment.confirmations) : confirmations,
    blockHeight: block.height,
    blockHash: block.hash,
    blockTimeMs: block.timeMs,
    receivedAtMs: Math.min(payment.receivedAtMs, block.timeMs),
    confirmedAtMs: status === "CONFIRMED" ? (payment.confirmedAtMs ?? nowMs) : null,
    reorgedAtMs: payment.status === "CONFIRMED" && status === "DETECTED" ? nowMs : payment.reorgedAtMs,
    lastKnownAtMs: nowMs,
    finalAtMs,
    updatedAtMs: nowMs,
  };
}

/** Known outside a block, where it may have been before. */
function afterPending(payment: Payment, { nowMs }: ObservationContext): Payment {
  const status = statusSeen(payment, "DETECTED");
  const isStale = nowMs - payment.lastKnownAtMs >= KNOWN_EVERY_MS;
  if (!isStale && status === payment.status && payment.blockHeight === null) return payment;
  // A block's time may be ahead of our clock: then this is the earlier one.
  const receivedAtMs = Math.min(payment.receivedAtMs, nowMs);
  return { ...outOfBlock(payment, nowMs), status, receivedAtMs, lastKnownAtMs: nowMs, finalAtMs: null };
}

/**
 * Out of its block it is REORGED, and may be mined again; after max(reorg window, 72 h) no pass checks it any more. Out of a mempool it
 * stays as it is, for sources forget, until no source has known it for 72 h.
 */
function afterUnknown(payment: Payment, { nowMs, network }: ObservationContext): Payment {
  if (payment.blockHeight !== null) return { ...outOfBlock(payment, nowMs), ...leaving(payment), status: "REORGED" };
  if (payment.finalAtMs !== null) return payment;
  if (payment.status !== "REORGED") {
    const isForgotten = nowMs - payment.lastKnownAtMs >= DROPPED_AFTER_MS + KNOWN_EVERY_MS;
    return isForgotten ? dropped(payment, nowMs) : payment;
  }
  const windowMs = Math.max(network.reorgWindowBlocks * network.blockSeconds * 1_000, DROPPED_AFTER_MS);
  const isOver = nowMs - (payment.reorgedAtMs ?? nowMs) > windowMs;
  return isOver ? { ...payment, finalAtMs: nowMs, updatedAtMs: nowMs } : payment;
}

function afterReplaced(payment: Payment, { nowMs }: ObservationContext): Payment {
  return payment.status === "DROPPED" ? payment : dropped(payment, nowMs);
}

function dropped(payment: Payment, nowMs: number): Payment {
  return { ...outOfBlock(payment, nowMs), ...leaving(payment), status: "DROPPED", finalAtMs: nowMs };
}

/** The row without a block; where it had one, it left the chain just now. Its time stays until it is seen again. */
function outOfBlock(payment: Payment, nowMs: number): Payment {
  return {
    ...payment,
    confirmations: 0,
    blockHeight: null,
    blockHash: null,
    blockTimeMs: null,
    confirmedAtMs: null,
    reorgedAtMs: payment.blockHeight === null ? payment.reorgedAtMs : nowMs,
    finalAtMs: null,
    updatedAtMs: nowMs,
  };
}

/** What an IGNORED row must remember of itself. */
function leaving(payment: Payment): Partial<Payment> {
  return payment.status === "IGNORED" ? { wasIgnored: true } : {};
}

/** A credited payment is what the chain says of it; one without an invoice stays UNMATCHED or IGNORED wherever it is seen. */
function statusSeen(payment: Payment, credited: "DETECTED" | "CONFIRMED"): PaymentStatus {
  if (payment.invoiceId !== null) return credited;
  return isIgnored(payment) ? "IGNORED" : "UNMATCHED";
}

/** Dust, or ignored by a user, wherever the chain has it now. */
function isIgnored(payment: Payment): boolean {
  if (payment.invoiceId !== null) return false;
  if (payment.status === "UNMATCHED" || payment.status === "IGNORED") return payment.status === "IGNORED";
  return payment.wasIgnored;
}

export type PaymentNews = "payment.detected" | "payment.confirmed" | "payment.dropped" | "payment.reorged";

/**
 * The events of a payment since it was stored, in the order in which they happened (decisions 4, "Events of the moves"). Steps that no
 * observation saw are reported all the same, so that an integrator gets one story whenever the chain was read:
 *
 * - seen for the first time, or again after REORGED or DROPPED: detected; then confirmed where it is;
 * - out of the block that it was known in, or no longer CONFIRMED: reorged. Mined elsewhere in between and as good as before: nothing;
 * - DROPPED: dropped, after reorged where it was in a block.
 *
 * A payment without an invoice is reported only when it leaves (the caller reports `payment.unmatched`); an IGNORED one never.
 */
export function newsOf(before: Payment | undefined, after: Payment): readonly PaymentNews[] {
  if (isIgnored(after)) return [];
  const news: PaymentNews[] = [];
  const hadBlock = before !== undefined && before.blockHeight !== null;
  const wasConfirmed = before?.status === "CONFIRMED";
  if ((hadBlock && after.blockHeight === null) || (wasConfirmed && after.status !== "CONFIRMED")) {
    news.push("payment.reorged");
  }
  if (after.status === "DROPPED" && before?.status !== "DROPPED") news.push("payment.dropped");
  if (isSeen(after) && (before === undefined || !isSeen(before))) news.push("payment.detected");
  if (after.status === "CONFIRMED" && !wasConfirmed) news.push("payment.confirmed");
  return news;
}
