// What each error code means and what its caller should do, in plain words. Not part of the Worker. The compiler requires every
// code.
import type { FailureCode } from "../src/platform/failures.ts";
import { ACCESS, DEPLOYMENT, REQUEST, SIGN_IN, TEAM } from "./error-texts/accounts.ts";
import type { ErrorText, ErrorTexts } from "./error-texts/error-text.ts";
import { CATALOGUE, INVOICES, OUTAGES, PAYMENTS, WALLETS, WEBHOOKS } from "./error-texts/trade.ts";

/** The codes by subject, in page order. */
export const ERROR_GROUPS = {
  "The request itself": REQUEST,
  "Who is calling": ACCESS,
  "The deployment": DEPLOYMENT,
  "Signing in and your account": SIGN_IN,
  "Merchant, team and API keys": TEAM,
  "Products, customers and images": CATALOGUE,
  Wallets: WALLETS,
  Invoices: INVOICES,
  "Payments and decisions by hand": PAYMENTS,
  "Events and webhooks": WEBHOOKS,
  "Failures of the service": OUTAGES,
} as const satisfies Readonly<Record<string, ErrorTexts>>;

/** Each code with its text: the compiler reports those missing from every group. */
export const ERROR_TEXTS: { readonly [C in FailureCode]: ErrorText } = {
  ...REQUEST,
  ...ACCESS,
  ...DEPLOYMENT,
  ...SIGN_IN,
  ...TEAM,
  ...CATALOGUE,
  ...WALLETS,
  ...INVOICES,
  ...PAYMENTS,
  ...WEBHOOKS,
  ...OUTAGES,
};
