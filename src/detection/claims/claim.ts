// A payer's claim that a transaction pays an invoice (decisions 5). Hashes are public, so it proves nothing: it triggers a lookup and is stored.
import type { ClaimId, InvoiceId, MerchantId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../lib/time.ts";

export const CLAIM_OUTCOMES = ["FOUND", "NOT_FOUND", "UNAVAILABLE"] as const;
export type ClaimOutcome = (typeof CLAIM_OUTCOMES)[number];

export const CLAIM_WINDOW_MS = HOUR_MS;
export const CLAIMS_PER_INVOICE = LIMITS.claimsPerInvoiceAndHour;

/** A claim repeated within this time gets the outcome of the earlier lookup. */
export const REPEAT_MS = MINUTE_MS;

export interface Claim {
  readonly id: ClaimId;
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  readonly network: string;
  readonly txHash: string;
  readonly outcome: ClaimOutcome;
  readonly createdAtMs: number;
}

/**
 * The earlier claim that this one repeats: the same claim from the last minute, or one whose outcome was FOUND, because the watcher already follows
 * its transaction. `made`: claims of the last hour.
 */
export function repeatedClaim(
  made: readonly Claim[],
  { network, txHash }: Pick<Claim, "network" | "txHash">,
  nowMs: number,
): Claim | undefined {
  const same = made.filter((claim) => claim.network === network && claim.txHash === txHash);
  return same.find(({ outcome, createdAtMs }) => outcome === "FOUND" || nowMs - createdAtMs < REPEAT_MS);
}

/** Seconds until the invoice may be claimed again; 0 if it may be claimed now. `made`: claims of the last hour, in any order. */
export function claimWaitSeconds(made: readonly Claim[], nowMs: number): number {
  const times = made.map(({ createdAtMs }) => createdAtMs).toSorted((a, b) => b - a);
  const decisive = times[CLAIMS_PER_INVOICE - 1];
  return decisive === undefined ? 0 : Math.max(0, Math.ceil((decisive + CLAIM_WINDOW_MS - nowMs) / SECOND_MS));
}
