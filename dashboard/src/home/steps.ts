// A merchant's first steps, and which of them are still shown on Home.
import type { Merchant } from "../api/operations.ts";

export const STEPS = ["WALLET", "SALE", "PAID"] as const;
export type Step = (typeof STEPS)[number];

/** The permissions for each step; any one of them is enough to complete it. */
const NEEDED: Readonly<Record<Step, readonly Merchant["permissions"][number][]>> = {
  WALLET: ["wallet:create"],
  SALE: ["product:create", "api_key:create"],
  PAID: ["invoice:create"],
};

/** The steps for which the user has permission. */
export function stepsFor({ permissions }: Pick<Merchant, "permissions">): readonly Step[] {
  return STEPS.filter((step) => NEEDED[step].some((each) => permissions.includes(each)));
}

/** A merchant's data; undefined until read. */
interface Facts {
  readonly wallets: number | undefined;
  readonly products: number | undefined;
  readonly apiKeys: number | undefined;
  readonly paidInvoices: number | undefined;
}

/** The completed steps; undefined until known. */
export function takenSteps({ wallets, products, apiKeys, paidInvoices }: Facts): readonly Step[] | undefined {
  if (wallets === undefined || products === undefined || apiKeys === undefined || paidInvoices === undefined) return;
  const counts = { WALLET: wallets, SALE: products + apiKeys, PAID: paidInvoices };
  return STEPS.filter((step) => counts[step] > 0);
}
