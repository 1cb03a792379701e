// The amount left to pay after a partial payment, on one of the invoice's methods.

import { pairOf } from "../../chains/registry/pair.ts";
import { plainUnits } from "../amounts/direct-amount.ts";
import type { Invoice, PaymentMethod } from "../invoice-records/invoice.ts";
import { dustLimitUnits } from "../payments/dust.ts";
import { amountDueUnits } from "../settlement/value.ts";

/** The amount due, in whole grains and never below the dust limit. Null if that is the method's quoted amount, or if enough was received. */
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
  return plainUnits(due, asset, dustLimitUnits(network, asset.code));
}

/** Whether money is still due at a shared address, but no amount is reserved for it. If so, the method must not ask for an amount. */
export function lacksRest(
  invoice: Pick<Invoice, "status" | "amountMicros" | "receivedMicros" | "underpaidToleranceMicros">,
  method: PaymentMethod,
): boolean {
  const mayBePaid = invoice.status === "AWAITING_PAYMENT" || invoice.status === "UNDERPAID";
  if (!mayBePaid || method.walletType !== "DIRECT_WALLET" || method.status !== "ACTIVE") return false;
  return method.remainderUnits === null && restUnits(method, invoice, invoice.receivedMicros) !== null;
}
