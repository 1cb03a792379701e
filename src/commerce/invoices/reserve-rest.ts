// What is still due at a shared address after a partial payment has an amount of its own there, so that the rest can be recognised like the
// first part (decisions 5), whichever way that part was paid.

import type { Result } from "../../lib/result.ts";
import type { Invoice, PaymentMethod } from "./invoice.ts";
import {
  type AmountDependencies,
  type AmountRefusal,
  type HeldAmount,
  NOTHING_KNOWN,
  type ReservedAmount,
  reserveAmount,
} from "./reserve-amount.ts";

export interface RestRequest {
  readonly invoice: Pick<Invoice, "id" | "merchantId" | "createdAtMs" | "expiresAtMs" | "monitorUntilMs">;
  readonly method: Pick<PaymentMethod, "network" | "cryptocurrency" | "walletId"> & { readonly address: string };
  /** What is due, as `restUnits` has it. */
  readonly dueUnits: bigint;
  /** The amounts that the invoice holds at the method's place. */
  readonly held: readonly HeldAmount[];
  readonly operationId: string;
  readonly lostSalts: readonly number[];
}

/** The amount to ask for, and what reserves it. */
export function reserveRest(
  deps: AmountDependencies,
  request: RestRequest,
): Promise<Result<ReservedAmount, AmountRefusal>> {
  const { invoice, method, dueUnits: priceUnits, held, operationId, lostSalts } = request;
  const { network, cryptocurrency, address, walletId } = method;
  const at = { network, cryptocurrency, address };
  return reserveAmount(deps, {
    // A payer of a part is no stranger.
    invoice: { ...invoice, origin: "API" },
    walletId,
    operationId,
    at,
    priceUnits,
    taken: NOTHING_KNOWN,
    held,
    lostSalts,
  });
}
