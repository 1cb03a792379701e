// How an observation of the chain changes a payment (decisions 4 and 5). A payment depends only on its newest observation, the earliest time it was
// seen, and the manual decisions about it, so it does not matter how often it was observed.
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
  /** In a block on the best chain. */
  | {
      readonly kind: "mined";
      readonly block: BlockRef;
      /** For growth of a balance, if known: the transactions that were subtracted in this block. */
      readonly explainedBy?: readonly string[];
    }
  /** Known to the source, but in no block. */
  | { readonly kind: "pending" }
  /** No queried source knows it, or its transaction no longer makes this transfer (it is reverted in its current block). */
  | { readonly kind: "unknown" }
  /** Another transaction spent one of its inputs: it can never be mined. */
  | { readonly kind: "replaced" }
  /** The chain holds a different effect under this identity: a different amount, coin or recipient. */
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

/** An unconfirmed payment that no source has known for this long is DROPPED (decisions 4). Before that, the sources may just have forgotten it. */
export const DROPPED_AFTER_MS = 72 * HOUR_MS;

/**
 * `lastKnownAtMs` of an unconfirmed payment is written only once the stored value is this old, not at every observation. So the payment may be
 * dropped up to this much later, but never earlier than 72 hours after it was last known.
 */
export const KNOWN_EVERY_MS = 6 * HOUR_MS;

export function observationOf({ block, growth }: Pick<Transfer, "block" | "growth">): ChainObservation {
  return block === null ? { kind: "pending" } : { kind: "mined", block, ...growth };
}

/**
 * A payment's time when it is first seen, or seen again after it was dropped: the block's time, or now if the block's time is in the future, because
 * a payment that is seen has happened, whatever a miner's clock says.
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
  /** The number that the method requires or, if no invoice is credited, the wallet. The transfer itself may require more. */
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
 * The payment after an observation; the same object if there is nothing to write. A higher number of confirmations alone is not written, because the
 * number shown is computed from the network's tip. Also used for a payment that was just assigned, with its last observation.
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

/** If the growth of a balance moves to another block, other transactions may explain it there (`putPayment`). */
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
 * The payment is in a block. It is CONFIRMED by depth or because its block is final, and stays so while it is in that block, even if a lagging source
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

/** The source knows the payment, but it is not in a block; it may have been in one before. */
function afterPending(payment: Payment, { nowMs }: ObservationContext): Payment {
  const status = statusSeen(payment, "DETECTED");
  const isStale = nowMs - payment.lastKnownAtMs >= KNOWN_EVERY_MS;
  if (!isStale && status === payment.status && payment.blockHeight === null) return payment;
  const receivedAtMs = receivedAt(payment, nowMs);
  return { ...outOfBlock(payment, nowMs), status, receivedAtMs, lastKnownAtMs: nowMs, finalAtMs: null };
}

/**
 * No source knows the payment. If it was in a block, it becomes REORGED and may be mined again; after max(reorg window, 72 h) it is no longer
 * checked. If it was in a mempool, it becomes DROPPED only after no source has known it for 72 h, because sources forget.
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
 * The row keeps its data, with its own id appended to its identity, so that the effect that is now on the chain can have its own row. If the old
 * effect comes back, it also gets a new row, with the time of its return.
 */
function afterSuperseded(payment: Payment, { nowMs }: ObservationContext): Payment {
  return isSuperseded(payment) ? payment : { ...dropped(payment, nowMs), outputIndex: supersededIndex(payment) };
}

/** Observations can only make the time earlier. But a dropped payment gets the time of its next observation, because the earlier ones were wrong. */
function receivedAt(payment: Payment, seenMs: number): number {
  return payment.status === "DROPPED" ? seenMs : Math.min(payment.receivedAtMs, seenMs);
}

function dropped(payment: Payment, nowMs: number): Payment {
  return { ...outOfBlock(payment, nowMs), ...leaving(payment), status: "DROPPED", finalAtMs: nowMs };
}

/** The row without a block. If it had one, the payment has just left the chain. `receivedAtMs` does not change until the payment is seen again. */
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

/** For a payment that leaves the chain: remembers that it was IGNORED, so that it is IGNORED again when it returns. */
function leaving(payment: Payment): Partial<Payment> {
  return payment.status === "IGNORED" ? { wasIgnored: true } : {};
}

/** The status of a credited payment follows the chain; a payment without an invoice stays UNMATCHED or IGNORED wherever it is seen. */
function statusSeen(payment: Payment, credited: "DETECTED" | "CONFIRMED"): PaymentStatus {
  if (payment.invoiceId !== null) return credited;
  return isIgnored(payment) ? "IGNORED" : "UNMATCHED";
}

/** Whether the payment is dust or was ignored by a user, whatever its state on the chain. */
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
 * - seen for the first time, or again after REORGED or DROPPED: detected; then confirmed if it is;
 * - out of the block that it was known in, or no longer CONFIRMED: reorged; but no event if it is in another block with the same status;
 * - DROPPED: dropped, after reorged if it was in a block.
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
