// What is still due at a shared address after a part was paid has an amount of its own there, so that the rest is told apart like the first part
// was (decisions 5), whichever way the part came.
import { roundUpTo } from "../lib/money.ts";
import type { Invoice, PaymentMethod } from "./invoice.ts";
import { pairOf } from "./payment-method.ts";
import { type AmountEffects, type HeldAmount, type ReservedAmount, reserveAmount } from "./reserve-amount.ts";
import { amountDueUnits } from "./value.ts";

/** Of nobody else's amounts anything is known here: they are looked up. */
const NOTHING_KNOWN = { takenSalts: [], maxSalt: null, isPriceTaken: true, ownHeld: null } as const;

export interface RestRequest {
  readonly invoice: Pick<Invoice, "id" | "merchantId" | "monitorUntilMs">;
  readonly method: Pick<PaymentMethod, "network" | "cryptocurrency" | "walletId"> & { readonly address: string };
  /** What is due, as `restUnits` has it. */
  readonly dueUnits: bigint;
  /** The amounts that the invoice holds at the method's place. */
  readonly held: readonly HeldAmount[];
  readonly operationId: string;
  readonly lostSalts: readonly number[];
}

/** The amount to ask for, and what reserves it; undefined when none is free. */
export function reserveRest(fx: AmountEffects, request: RestRequest): Promise<ReservedAmount | undefined> {
  const { invoice, method, dueUnits: priceUnits, held, operationId, lostSalts } = request;
  const { network, cryptocurrency, address, walletId } = method;
  const at = { network, cryptocurrency, address };
  return reserveAmount(fx, {
    // Who has paid a part is no stranger.
    invoice: { ...invoice, isFromPublicKey: false },
    walletId,
    operationId,
    at,
    priceUnits,
    taken: NOTHING_KNOWN,
    held,
    lostSalts,
  });
}

/** What is due where it is not what the method's quote stands for, in whole grains; null where it is, and where enough was received. */
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
  return due === null || due === 0n ? null : roundUpTo(due, pairOf(method).asset.grainUnits);
}
