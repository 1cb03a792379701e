// A manual decision about a payment that no rule credited or that has no price (decisions 5): assign it to an invoice, ignore it, or reopen it after
// it was ignored.
import type { Network } from "../../chains/registry/networks.ts";
import type { InvoiceId } from "../../lib/ids.ts";
import { parseJson, printJson } from "../../lib/typed-json.ts";
import type { Failure } from "../../platform/failures.ts";
import { paymentAfter } from "./chain-observation.ts";
import { isSeen, type Payment, type PaymentResolution, type ResolutionAction } from "./payment.ts";

/**
 * An UNMATCHED payment can be assigned or ignored. An IGNORED payment can still be assigned; it can be reopened if a user ignored it, but not if a
 * rule did (dust). A payment that was credited without a price can be assigned to the same invoice again, which values it at the current rate.
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

/** The row after the payment was ignored; its transaction is still watched. */
export function ignored(payment: Payment, resolution: PaymentResolution, nowMs: number): Payment {
  return { ...payment, status: "IGNORED", resolution: printJson(resolution), updatedAtMs: nowMs };
}

/** The row after the payment was reopened, so that it waits for a decision again. */
export function reopened(payment: Payment, resolution: PaymentResolution, nowMs: number): Payment {
  return { ...payment, status: "UNMATCHED", resolution: printJson(resolution), updatedAtMs: nowMs };
}

interface Assignment {
  readonly payment: Payment;
  readonly invoiceId: InvoiceId;
  /** The payment's market value, in micro-units of the invoice currency; null if no rate is known, but a quote prices the payment. */
  readonly marketMicros: bigint | null;
  readonly requiredConfirmations: number;
  readonly resolution: PaymentResolution;
  readonly network: Network;
  /** The heights that the network's watcher last read; null if it never ran. */
  readonly tipHeight: number | null;
  readonly finalizedHeight: number | null;
  /** False if two providers must agree first; in that case the watcher confirms the payment later. */
  readonly mayConfirm: boolean;
  readonly nowMs: number;
}

/** The row after the payment was assigned: DETECTED, or CONFIRMED if the last observation of its block allows it. */
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
