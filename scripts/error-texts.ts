// What each error code means and what its caller should do. Not part of the Worker. The compiler requires a text for every code.
import type { FailureCode } from "../src/platform/failures.ts";
import { ACCESS, DEPLOYMENT, REQUEST, SIGN_IN, TEAM } from "./error-texts/accounts.ts";
import type { ErrorText, ErrorTexts } from "./error-texts/error-text.ts";
import { CATALOGUE, INVOICES, OUTAGES, PAYMENTS, WALLETS, WEBHOOKS } from "./error-texts/trade.ts";

/** The codes by subject, in the order of the page. */
export const ERROR_GROUPS = {
  "Invalid requests": REQUEST,
  "Authentication and permissions": ACCESS,
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

/** Each code with its text. The compiler reports a code that is in no group. */
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
