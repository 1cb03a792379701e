// What a person decides about a payment that no rule credited (decisions 5): to which invoice it belongs, or that it belongs to none.
import type { Network } from "../chains/networks.ts";
import type { Failure } from "../failures.ts";
import type { InvoiceId } from "../lib/ids.ts";
import type { Payment, PaymentResolution } from "./payment.ts";
import { paymentAfter } from "./sight.ts";

/** Only what nobody has and what is there can be decided about; what was set aside can still be assigned. */
export function resolutionRefusal(
  { invoiceId, status }: Pick<Payment, "invoiceId" | "status">,
  action: PaymentResolution["action"],
): Failure | undefined {
  const isOpen = status === "UNMATCHED" || (status === "IGNORED" && action === "ASSIGN");
  return isOpen && invoiceId === null ? undefined : { code: "PAYMENT_NOT_RESOLVABLE", status };
}

/** The row once it is set aside; where its transaction is stays watched. */
export function ignored(payment: Payment, resolution: PaymentResolution, nowMs: number): Payment {
  return { ...payment, status: "IGNORED", resolution: JSON.stringify(resolution), updatedAtMs: nowMs };
}

export interface Assignment {
  readonly payment: Payment;
  readonly invoiceId: InvoiceId;
  /** Worth in micro-units of the invoice currency. */
  readonly fiatMicros: bigint;
  readonly requiredConfirmations: number;
  readonly resolution: PaymentResolution;
  readonly network: Network;
  /** As the network's watcher last saw them; null where it never did. */
  readonly tipHeight: number | null;
  readonly finalizedHeight: number | null;
  /** False where two providers must agree first: the watcher confirms it. */
  readonly mayConfirm: boolean;
  readonly nowMs: number;
}

/** The row once it is credited, DETECTED or CONFIRMED by what was last seen of its block. */
export function assigned(of: Assignment): Payment {
  const { payment, invoiceId, fiatMicros, requiredConfirmations, resolution, nowMs } = of;
  const { blockHeight, blockHash, blockTimeMs, confirmations } = payment;
  const credited: Payment = {
    ...payment,
    ...{ invoiceId, fiatMicros, requiredConfirmations, matchedBy: "MANUAL", status: "DETECTED" },
    resolution: JSON.stringify(resolution),
    updatedAtMs: nowMs,
  };
  if (blockHeight === null || blockHash === null || blockTimeMs === null) return credited;
  const tipHeight = Math.max(of.tipHeight ?? 0, blockHeight + confirmations - 1);
  const { network, finalizedHeight, mayConfirm } = of;
  const sight = { kind: "mined", block: { height: blockHeight, hash: blockHash, timeMs: blockTimeMs } } as const;
  return paymentAfter(credited, sight, { network, heights: { tipHeight, finalizedHeight }, nowMs, mayConfirm });
}
