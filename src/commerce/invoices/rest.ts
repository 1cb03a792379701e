// What is left to pay of an invoice that had a part, at one of its methods.
import { maxBig, roundUpTo } from "../../lib/money.ts";
import { dustLimitUnits } from "../payments/dust.ts";
import type { Invoice, PaymentMethod } from "./invoice.ts";
import { pairOf } from "./payment-method.ts";
import { amountDueUnits } from "./value.ts";

/**
 * What is due if it differs from the method's quoted amount, in whole grains and never less than nodes relay; null if it does not, and if
 * enough was received.
 */
export function restUnits(
  method: Pick<PaymentMethod, "amountUnits" | "quoteForMicros" | "network" | "cryptocurrency">,
  invoice: Pick<Invoice, "amountMicros" | "underpaidToleranceMicros">,
  receivedMicros: bigint,
): bigint | null {
  const { amountMicros: expectedMicros, underpaidToleranceMicros } = invoice;
  const { amountUnits, quoteForMicros } = method;
  if (expectedMicros - receivedMicros === quoteForMicros) return null;
  if (receivedMicros >= expectedMicros - underpaidToleranceMicros) return null;
  const due = amountDueUnits({ amountUnits, quoteForMicros, expectedMicros, receivedMicros });
  if (due === null || due === 0n) return null;
  const { asset, network } = pairOf(method);
  return roundUpTo(maxBig(due, dustLimitUnits(network, asset.code)), asset.grainUnits);
}

/** Whether a rest is due at a shared address and no amount for it was free: then nothing may be asked there. */
export function lacksRest(
  invoice: Pick<Invoice, "status" | "amountMicros" | "receivedMicros" | "underpaidToleranceMicros">,
  method: PaymentMethod,
): boolean {
  const mayBePaid = invoice.status === "AWAITING_PAYMENT" || invoice.status === "UNDERPAID";
  if (!mayBePaid || method.walletType !== "DIRECT_WALLET" || method.status !== "ACTIVE") return false;
  return method.remainderUnits === null && restUnits(method, invoice, invoice.receivedMicros) !== null;
}
