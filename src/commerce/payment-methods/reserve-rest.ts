// Reserves a unique amount for the rest of a partly paid invoice at a shared address, so that its payment can be matched like the first one
// (decisions 5), no matter which method the first one used.

import type { Result } from "../../lib/result.ts";
import type { AmountRefusal } from "../amounts/holding.ts";
import type { Invoice, PaymentMethod } from "../invoice-records/invoice.ts";
import type { Sharing } from "../ranks/rank.ts";
import { type AmountDependencies, type ReservedAmount, reserveAmount } from "./reserve-amount.ts";

interface WantedRest {
  readonly invoice: Invoice;
  readonly method: Pick<PaymentMethod, "network" | "cryptocurrency" | "walletId"> & { readonly address: string };
  /** The amount due, from `restUnits`. */
  readonly dueUnits: bigint;
  readonly sharing: Sharing;
}

/** Reserves the amount to ask for, and returns the statements that store it. */
export function reserveRest(
  deps: AmountDependencies,
  { invoice, method, dueUnits: priceUnits, sharing }: WantedRest,
): Promise<Result<ReservedAmount, AmountRefusal>> {
  const { network, cryptocurrency, address, walletId } = method;
  const at = { network, cryptocurrency, address };
  // The limits on browsers do not apply, because this invoice has received money.
  return reserveAmount(deps, {
    invoice: { ...invoice, origin: "API" },
    walletId,
    at,
    priceUnits,
    sharing,
    quote: null,
  });
}
