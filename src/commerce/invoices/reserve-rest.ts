// After a partial payment the rest at a shared address has its own amount, so that it can be matched like the first part (decisions 5),
// whichever method that part was paid with.

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
  /** The amount due, from `restUnits`. */
  readonly dueUnits: bigint;
  /** The amounts that the invoice holds at the method's place. */
  readonly held: readonly HeldAmount[];
  readonly operationId: string;
  readonly lostSalts: readonly number[];
}

/** The amount to ask for, and the statements that reserve it. */
export function reserveRest(
  deps: AmountDependencies,
  request: RestRequest,
): Promise<Result<ReservedAmount, AmountRefusal>> {
  const { invoice, method, dueUnits: priceUnits, held, operationId, lostSalts } = request;
  const { network, cryptocurrency, address, walletId } = method;
  const at = { network, cryptocurrency, address };
  return reserveAmount(deps, {
    // The limits on browsers do not apply, because this invoice has received money.
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
