// Why a form was refused, passed through the redirect in the page's URL: nothing is stored for it, and the page may be reloaded. It says nothing
// about the invoice, which may change; a claim is named in the URL, and the page looks up its state at each read (`claimed-view.ts`).
import type { Failure } from "../../platform/failures.ts";

export const NOTES = [
  "claim-unavailable",
  "claim-invalid",
  "claim-too-many",
  "rate",
  "taken",
  "network",
  "closed",
  "frozen",
  "too-many",
  "other",
] as const;

/** Notes that start with `claim-` are about a claim, the others about why a payment method could not be chosen. */
export type Note = (typeof NOTES)[number];

const NOTES_OF: Partial<Record<Failure["code"], Note>> = {
  RATE_UNAVAILABLE: "rate",
  AMOUNTS_EXHAUSTED: "taken",
  PUBLIC_ADDRESS_LIMIT: "taken",
  LIMIT_REACHED: "taken",
  CONTENTION: "taken",
  NETWORK_NOT_WATCHED: "network",
  INVOICE_NOT_PAYABLE: "closed",
  MERCHANT_SUSPENDED: "closed",
  NO_ENABLED_WALLET: "closed",
  UNSUPPORTED_PAIR: "closed",
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: "closed",
  WALLET_FROZEN: "frozen",
  RATE_LIMITED: "too-many",
};

/** Why a payment method could not be chosen. */
export function pickNote(failure: Failure): Note {
  return NOTES_OF[failure.code] ?? "other";
}

/** Why a claim was refused. */
export function claimNote(failure: Failure): Note {
  return CLAIM_REFUSALS[failure.code] ?? "claim-unavailable";
}

const CLAIM_REFUSALS: Partial<Record<Failure["code"], Note>> = {
  VALIDATION_FAILED: "claim-invalid",
  NETWORK_NOT_OFFERED: "claim-invalid",
  RATE_LIMITED: "claim-too-many",
};
