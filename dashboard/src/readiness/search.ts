import { CURRENCIES } from "../invoices/currencies.ts";

/** What the address of the page carries. */
export interface ReadinessSearch {
  /** Of the prices; without it, that of new invoices. */
  readonly currency?: (typeof CURRENCIES)[number];
}

export function readinessSearch({ currency: asked }: Readonly<Record<string, unknown>>): ReadinessSearch {
  const currency = CURRENCIES.find((each) => each === asked);
  return currency === undefined ? {} : { currency };
}
