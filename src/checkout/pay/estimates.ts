// Approximately how much would have to be paid if a payment method were chosen now, at the current rate; choosing the method locks a rate. Rounded up
// to a few digits, so that no one mistakes it for the amount to send.

import { isSamePair, pairKey, pairOf } from "../../chains/registry/pair.ts";
import type { Invoice } from "../../commerce/invoice-records/invoice.ts";
import type { MethodBody } from "../../commerce/invoices/invoice-body.ts";
import { quoteMethod } from "../../commerce/payment-methods/payment-method.ts";
import type { Wallet } from "../../commerce/wallet-records/wallet.ts";
import { formatUnits, roundUpTo } from "../../lib/money.ts";
import type { RateTable } from "../../rates/quote.ts";

/** Decimal text by `pairKey`; leaves out methods that have no rate. */
export type Estimates = ReadonlyMap<string, string>;

export const NO_ESTIMATES: Estimates = new Map();

const DIGITS = 6;

/** The methods for which a rate is enough to show an estimate. Empty if money was already received, or if any amount may be sent. */
export function estimatedMethods(
  { amountMicros, receivedMicros }: Pick<Invoice, "amountMicros" | "receivedMicros">,
  methods: readonly MethodBody[],
): readonly MethodBody[] {
  return amountMicros === 0n || receivedMicros > 0n ? [] : methods.filter(({ status }) => status === "AVAILABLE");
}

/** `methods`: what `estimatedMethods` returned. */
export function estimatesOf(of: {
  readonly invoice: Pick<Invoice, "amountMicros" | "currency">;
  readonly wallets: readonly Wallet[];
  readonly methods: readonly MethodBody[];
  readonly table: RateTable;
  readonly nowMs: number;
}): Estimates {
  const { invoice, wallets, methods, table, nowMs } = of;
  const estimates = new Map<string, string>();
  for (const method of methods) {
    const wallet = wallets.find((each) => isSamePair(each, method));
    const quote = wallet === undefined ? undefined : quoteMethod({ invoice, wallet, table, nowMs });
    if (!quote?.ok || quote.value.amountUnits === null) continue;
    estimates.set(pairKey(method), formatUnits(roughly(quote.value.amountUnits), pairOf(method).asset.decimals));
  }
  return estimates;
}

function roughly(units: bigint): bigint {
  return roundUpTo(units, 10n ** BigInt(Math.max(0, String(units).length - DIGITS)));
}
