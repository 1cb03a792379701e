import { CURRENCIES } from "../invoices/currencies.ts";

export interface ReadinessSearch {
  /** The currency of the prices; by default that of new invoices. */
  readonly currency?: (typeof CURRENCIES)[number];
}

export function readinessSearch({ currency: asked }: Readonly<Record<string, unknown>>): ReadinessSearch {
  const currency = CURRENCIES.find((each) => each === asked);
  return currency === undefined ? {} : { currency };
}
