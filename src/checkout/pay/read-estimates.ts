import type { RefreshDependencies } from "../../commerce/invoices/refresh-invoice.ts";
import { type Estimates, estimatedMethods, estimatesOf, NO_ESTIMATES } from "./estimates.ts";
import type { Checkout } from "./read-checkout.ts";

/** Asks for rates only if there is something to estimate. */
export async function readEstimates(
  deps: Pick<RefreshDependencies, "table" | "nowMs">,
  { file: { invoice }, wallets, methods: all }: Pick<Checkout, "file" | "wallets" | "methods">,
): Promise<Estimates> {
  const methods = estimatedMethods(invoice, all);
  if (methods.length === 0) return NO_ESTIMATES;
  return estimatesOf({ invoice, wallets, methods, table: await deps.table(), nowMs: deps.nowMs });
}
