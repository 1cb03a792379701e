// A manual decision about a payment that no rule credited (decisions 5): assign it to an invoice, ignore it, or take the ignoring back.
import type { Network } from "../../chains/registry/networks.ts";
import type { InvoiceId } from "../../lib/ids.ts";
import { parseJson, printJson } from "../../lib/typed-json.ts";
import type { Failure } from "../../platform/failures.ts";
import { paymentAfter } from "./chain-observation.ts";
import { isSeen, type Payment, type PaymentResolution, type ResolutionAction } from "./payment.ts";

/**
 * An UNMATCHED payment can be assigned or ignored, an IGNORED one can still be assigned. One that a user ignored can be reopened; dust, which
 * a rule ignored, cannot. A payment of an invoice that had no price can be assigned to that same invoice, which values it at the current rate.
 */
export function resolutionRefusal(
  payment: Pick<Payment, "invoiceId" | "status" | "weighedBy" | "resolution">,
  action: ResolutionAction,
  to?: InvoiceId,
): Failure | undefined {
  const { invoiceId, status, weighedBy } = payment;
  if (invoiceId === null && isOpenTo(payment, action)) return undefined;
  const isUnpriced = weighedBy === "NO_RATE" && action === "ASSIGN" && invoiceId === to && isSeen(payment);
  return isUnpriced ? undefined : { code: "PAYMENT_NOT_RESOLVABLE", status };
}

function isOpenTo({ status, resolution }: Pick<Payment, "status" | "resolution">, action: ResolutionAction): boolean {
  if (action === "REOPEN") {
    const last = resolution === null ? undefined : parseJson(resolution);
    return status === "IGNORED" && last?.action === "IGNORE";
  }
  return status === "UNMATCHED" || (status === "IGNORED" && action === "ASSIGN");
}

/** The row once it is ignored; its transaction is still watched. */
export function ignored(payment: Payment, resolution: PaymentResolution, nowMs: number): Payment {
  return { ...payment, status: "IGNORED", resolution: printJson(resolution), updatedAtMs: nowMs };
}

/** The row once it waits for a decision again. */
export function reopened(payment: Payment, resolution: PaymentResolution, nowMs: number): Payment {
  return { ...payment, status: "UNMATCHED", resolution: printJson(resolution), updatedAtMs: nowMs };
}

interface Assignment {
  readonly payment: Payment;
  readonly invoiceId: InvoiceId;
  /** Value at the market rate when first seen, in micro-units of the invoice currency; null if no rate is known. */
  readonly marketMicros: bigint | null;
  readonly requiredConfirmations: number;
  readonly resolution: PaymentResolution;
  readonly network: Network;
  /** The heights that the network's watcher last saw; null if it never ran. */
  readonly tipHeight: number | null;
  readonly finalizedHeight: number | null;
  /** False if two providers must agree first; then the watcher confirms it later. */
  readonly mayConfirm: boolean;
  readonly nowMs: number;
}

/** The row once it is credited; DETECTED or CONFIRMED by the last observation of its block. */
export function assigned(of: Assignment): Payment {
  const { payment, invoiceId, marketMicros, requiredConfirmations, resolution, nowMs } = of;
  const { blockHeight, blockHash, blockTimeMs, confirmations } = payment;
  const credited: Payment = {
    ...payment,
    invoiceId,
    marketMicros,
    requiredConfirmations,
    matchedBy: "MANUAL",
    status: "DETECTED",
    resolution: printJson(resolution),
    updatedAtMs: nowMs,
  };
  if (blockHeight === null || blockHash === null || blockTimeMs === null) return credited;
  const tipHeight = Math.max(of.tipHeight ?? 0, blockHeight + confirmations - 1);
  const { network, finalizedHeight, mayConfirm } = of;
  const observation = { kind: "mined", block: { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } } as const;
  return paymentAfter(credited, observation, { network, heights: { tipHeight, finalizedHeight }, nowMs, mayConfirm });
}
