import type { Rank } from "../../platform/column-values.ts";
// What a merchant's claim to an address or an extended key rests on (decisions 12, "Shared addresses and keys"). Addresses are public, so being
// the first to register one proves nothing; money that was received there for the merchant does.

/** The highest first. */
export const RANKS: readonly Rank[] = [1, 2, 3];
export const PROVEN: Rank = 2;
export const UNPROVEN: Rank = 3;

/** Rank 2: this much, in millionths of a US dollar, confirmed by automatic exact matches (an own address of a key is one). */
export const PROOF_USD_MICROS = 50_000_000n;

/** Rank 2: at least one part in so many of the largest proof of the address or key. */
export const PROOF_OF_LARGEST = 10;
/** An amount proves nothing that was asked for later than this before it was paid: a transfer on its way can be seen by anybody. */
export const ASKED_BEFORE_MS = 60_000;

/** The facts of a payment that prove whose an address is. */
export interface Evidence {
  readonly status: string;
  readonly matchedBy: string | null;
  readonly usdMicros: bigint | null;
  /** The payment's time. */
  readonly receivedAtMs: number;
}

/**
 * What a payment adds to the proof of the merchant who was credited with it; 0 unless a rule chose by its exact amount or address.
 * `askedFromMs`: since when exactly its amount was asked for; null where that is not known.
 */
export function proofMicros(payment: Evidence, askedFromMs: number | null): bigint {
  const { status, matchedBy, receivedAtMs } = payment;
  const isAsked = askedFromMs !== null && askedFromMs + ASKED_BEFORE_MS <= receivedAtMs;
  const isAutomatic = matchedBy === "ADDRESS" || (matchedBy === "EXACT_AMOUNT" && isAsked);
  return isAutomatic && status === "CONFIRMED" ? (payment.usdMicros ?? 0n) : 0n;
}
