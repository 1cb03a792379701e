// How an observation of the chain changes a payment (decisions 4 and 5). A payment is a function of its newest observation, the earliest
// time it was seen, and the manual decisions about it. So the number of observations does not matter.
import type { Network } from "../../chains/registry/network.ts";
import type { BlockRef, Transfer } from "../../chains/sources/transfer.ts";
import type { InvoiceId, MerchantId, PaymentId } from "../../lib/ids.ts";
import { HOUR_MS } from "../../lib/time.ts";
import { printJson } from "../../lib/typed-json.ts";
import {
  isSeen,
  isSuperseded,
  type MatchRule,
  type Payment,
  type PaymentEvidence,
  type PaymentStatus,
  type StoredPayment,
  supersededIndex,
} from "./payment.ts";

export type ChainObservation =
  /** In a block of the best chain. */
  | {
      readonly kind: "mined";
      readonly block: BlockRef;
      /** For growth of a balance, where it is known: what was subtracted in this block. */
      readonly explainedBy?: readonly string[];
    }
  /** Known to the source, but in no block. */
  | { readonly kind: "pending" }
  /** No queried source knows it, or its transaction no longer makes this transfer (it is reverted in its current block). */
  | { readonly kind: "unknown" }
  /** Another transaction spent one of its inputs: it can never be mined. */
  | { readonly kind: "replaced" }
  /** The chain holds another effect under this identity: other units, another coin or another recipient. */
  | { readonly kind: "superseded" };

export interface ChainHeights {
  readonly tipHeight: number;
  /** Null if the chain has no finality. */
  readonly finalizedHeight: number | null;
}

export interface ObservationContext {
  readonly network: Network;
  readonly heights: ChainHeights;
  readonly nowMs: number;
  /** False keeps a payment DETECTED until two providers agree. */
  readonly mayConfirm?: boolean;
}

/** An unconfirmed payment that no source has known for this long is DROPPED (decisions 4). Until then, a source may just have forgotten it. */
export const DROPPED_AFTER_MS = 72 * HOUR_MS;

/**
 * `lastKnownAtMs` of an unconfirmed payment is written only once it is this old, not at every observation. So the payment may be dropped
 * later by this much, but never earlier than 72 hours after it was last known.
 */
export const KNOWN_EVERY_MS = 6 * HOUR_MS;

export function observationOf({ block, growth }: Pick<Transfer, "block" | "growth">): ChainObservation {
  return block === null ? { kind: "pending" } : { kind: "mined", block, ...growth };
}

/**
 * A payment's time when it is first seen, or seen again after it was dropped: the block's time, or now if that is earlier. What is seen has
 * happened, whatever a miner's clock says.
 */
export function timeOf({ block }: Pick<Transfer, "block">, nowMs: number): number {
  return Math.min(block?.timeMs ?? nowMs, nowMs);
}

/** Where a new payment belongs: to an invoice, to no invoice yet, or nowhere (dust, which is never reported). */
export type Placement =
  | {
      readonly kind: "CREDITED";
      readonly invoiceId: InvoiceId;
      readonly matchedBy: MatchRule;
      /** Current value at the market rate, in micro-units of the invoice currency; null without a fresh rate. */
      readonly marketMicros: bigint | null;
    }
  | { readonly kind: "UNMATCHED" }
  | { readonly kind: "IGNORED" };

export interface NewPayment {
  readonly id: PaymentId;
  readonly merchantId: MerchantId;
  readonly transfer: Transfer;
  readonly placement: Placement;
  /** From the method, or from the wallet if no invoice is credited; the transfer may need more. */
  readonly requiredConfirmations: number;
  /** Current value in millionths of a US dollar; null if no rate is known. */
  readonly usdMicros: bigint | null;
  readonly evidence: PaymentEvidence;
  readonly context: ObservationContext;
}

/** The row for a transfer that is seen for the first time. */
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
    requiredConfirmations: Math.max(of.requiredConfirmations, transfer.leastConfirmations ?? 0),
    blockHeight: null,
    blockHash: null,
    blockTimeMs: null,
    isLate: false,
    matchedBy: isCredited ? placement.matchedBy : null,
    receivedAtMs: timeOf(transfer, nowMs),
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
 * The payment after an observation; the same object if there is nothing to write. A higher number of confirmations alone is not written,
 * because the number shown is computed from the network's tip. Also used for a newly assigned payment, with its last observation.
 */
export function paymentAfter(payment: Payment, observation: ChainObservation, context: ObservationContext): Payment {
  switch (observation.kind) {
    case "mined":
      return withExplainers(payment, afterMined(payment, observation.block, context), observation);
    case "pending":
      return afterPending(payment, context);
    case "unknown":
      return afterUnknown(payment, context);
    case "replaced":
      return afterReplaced(payment, context);
    case "superseded":
      return afterSuperseded(payment, context);
  }
}

/** Growth that moves to another block: other transactions may explain it there (`putPayment`). */
function withExplainers(
  before: Payment,
  after: Payment,
  { explainedBy }: Extract<ChainObservation, { kind: "mined" }>,
): Payment {
  if (explainedBy === undefined || after.blockHash === before.blockHash) return after;
  const evidence = printJson<Partial<PaymentEvidence>>({ explainedBy });
  const grown: StoredPayment = { ...after, evidence };
  return grown;
}

/**
 * In a block. It is CONFIRMED by depth or because its block is final, and stays so while it is in that block, even if a lagging source
 * reports a lower tip.
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
  const finalBefore = isSameBlock ? payment.finalAtMs : null;
  const whenDeep = isFinalized || isDeep ? (finalBefore ?? nowMs) : finalBefore;
  const finalAtMs = status === "DETECTED" ? null : whenDeep;
  if (isSameBlock && status === payment.status && finalAtMs === payment.finalAtMs) return payment;
  return {
    ...payment,
    status,
    confirmations: isSameBlock ? Math.max(confirmations, payment.confirmations) : confirmations,
    blockHeight: block.height,
    blockHash: block.hash,
    blockTimeMs: block.timeMs,
    receivedAtMs: receivedAt(payment, Math.min(block.timeMs, nowMs)),
    confirmedAtMs: status === "CONFIRMED" ? (payment.confirmedAtMs ?? nowMs) : null,
    reorgedAtMs: payment.status === "CONFIRMED" && status === "DETECTED" ? nowMs : payment.reorgedAtMs,
    lastKnownAtMs: nowMs,
    finalAtMs,
    updatedAtMs: nowMs,
  };
}

/** Known but not in a block; it may have been in one before. */
function afterPending(payment: Payment, { nowMs }: ObservationContext): Payment {
  const status = statusSeen(payment, "DETECTED");
  const isStale = nowMs - payment.lastKnownAtMs >= KNOWN_EVERY_MS;
  if (!isStale && status === payment.status && payment.blockHeight === null) return payment;
  const receivedAtMs = receivedAt(payment, nowMs);
  return { ...outOfBlock(payment, nowMs), status, receivedAtMs, lastKnownAtMs: nowMs, finalAtMs: null };
}

/**
 * If it was in a block it becomes REORGED, and may be mined again; after max(reorg window, 72 h) no pass checks it. If it was in a mempool it stays as it is,
 * because sources forget, until no source has known it for 72 h.
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

/**
 * The row keeps what it was, with its own id behind its identity, so that the effect that the chain holds now gets a row. An effect that comes
 * back gets a new row, too: it counts from then.
 */
function afterSuperseded(payment: Payment, { nowMs }: ObservationContext): Payment {
  return isSuperseded(payment) ? payment : { ...dropped(payment, nowMs), outputIndex: supersededIndex(payment) };
}

/** Observations only move the time earlier; but a dropped payment counts from its next observation, because the earlier ones were wrong. */
function receivedAt(payment: Payment, seenMs: number): number {
  return payment.status === "DROPPED" ? seenMs : Math.min(payment.receivedAtMs, seenMs);
}

function dropped(payment: Payment, nowMs: number): Payment {
  return { ...outOfBlock(payment, nowMs), ...leaving(payment), status: "DROPPED", finalAtMs: nowMs };
}

/** The row without a block; if it had one, it has just left the chain. Its time stays until it is seen again. */
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

/** For a payment that leaves the chain: marks an IGNORED row, so that it is IGNORED again when it returns. */
function leaving(payment: Payment): Partial<Payment> {
  return payment.status === "IGNORED" ? { wasIgnored: true } : {};
}

/** A credited payment has the status that the chain gives it; one without an invoice stays UNMATCHED or IGNORED wherever it is seen. */
function statusSeen(payment: Payment, credited: "DETECTED" | "CONFIRMED"): PaymentStatus {
  if (payment.invoiceId !== null) return credited;
  return isIgnored(payment) ? "IGNORED" : "UNMATCHED";
}

/** Whether it is dust or was ignored by a user, wherever it now is on the chain. */
function isIgnored(payment: Payment): boolean {
  if (payment.invoiceId !== null) return false;
  if (payment.status === "UNMATCHED" || payment.status === "IGNORED") return payment.status === "IGNORED";
  return payment.wasIgnored;
}

type PaymentEvent = "payment.detected" | "payment.confirmed" | "payment.dropped" | "payment.reorged";

/**
 * The events of a payment since it was stored, in the order in which they happened (decisions 4, "Events of the moves"). Steps that no
 * observation saw are reported too, so that an integrator gets the same sequence whenever the chain was read:
 *
 * - seen for the first time, or again after REORGED or DROPPED: detected; then confirmed where it is;
 * - out of the block that it was known in, or no longer CONFIRMED: reorged; but no event if it is in another block with the same status;
 * - DROPPED: dropped, after reorged where it was in a block.
 *
 * A payment without an invoice is reported only when it leaves (the caller reports `payment.unmatched`); an IGNORED one never.
 */
export function paymentEvents(before: Payment | undefined, after: Payment): readonly PaymentEvent[] {
  if (isIgnored(after)) return [];
  const events: PaymentEvent[] = [];
  const hadBlock = before !== undefined && before.blockHeight !== null;
  const wasConfirmed = before?.status === "CONFIRMED";
  if ((hadBlock && after.blockHeight === null) || (wasConfirmed && after.status !== "CONFIRMED")) {
    events.push("payment.reorged");
  }
  if (after.status === "DROPPED" && before?.status !== "DROPPED") events.push("payment.dropped");
  if (isSeen(after) && (before === undefined || !isSeen(before))) events.push("payment.detected");
  if (after.status === "CONFIRMED" && !wasConfirmed) events.push("payment.confirmed");
  return events;
}
