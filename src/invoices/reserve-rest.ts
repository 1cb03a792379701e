// What is still due at a shared address after a part was paid has an amount of its own there, so that the rest is told apart like the first part
// was (decisions 5), whichever way the part came.
import type { Invoice, PaymentMethod } from "./invoice.ts";
import { type AmountEffects, type HeldAmount, type ReservedAmount, reserveAmount } from "./reserve-amount.ts";

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
