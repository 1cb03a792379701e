import type { Rank } from "../../platform/column-values.ts";
// A merchant's proof for an address or an extended key (decisions 12, "Shared addresses and keys"). Addresses are public, so registering one first
// proves nothing. Money that was received there for the merchant does.

/** Highest rank first. */
export const RANKS: readonly Rank[] = [1, 2, 3];
export const PROVEN: Rank = 2;
export const UNPROVEN: Rank = 3;

/** A merchant at an address: its rank there, and who else has a live wallet on it. */
export interface Sharing {
  readonly rank: Rank;
  /** Whether any other merchant has one. */
  readonly hasOthers: boolean;
  /** How many others with proof have one. */
  readonly provenOthers: number;
}

/** Whether a merchant of this rank shares the address: merchants of a lower rank do not count, however many register it. */
export function isShared({ hasOthers, provenOthers }: Omit<Sharing, "rank">, rank: Rank): boolean {
  return rank === UNPROVEN ? hasOthers : provenOthers > 0;
}

/** Rank 2 needs this much, in millionths of a US dollar, from confirmed automatic exact matches, including payments to a key's addresses. */
export const PROOF_USD_MICROS = 50_000_000n;

/** Rank 2 also needs at least this fraction (1/10) of the largest proof for the address or key. */
export const PROOF_OF_LARGEST = 10;
/** An amount proves something only if it was asked for at least this long before the payment: anyone can see a transfer on its way. */
const ASKED_BEFORE_MS = 60_000;

/** The facts of a payment that can prove to whom an address belongs. */
interface Evidence {
  readonly status: string;
  readonly matchedBy: string | null;
  readonly usdMicros: bigint | null;
  /** The payment's time. */
  readonly receivedAtMs: number;
}

/**
 * What a payment adds to the proof of its merchant; 0 unless a rule matched it by its exact amount or address.
 * `askedFromMs`: since when exactly its amount was asked for; null if unknown.
 */
export function proofMicros(payment: Evidence, askedFromMs: number | null): bigint {
  const { status, matchedBy, receivedAtMs } = payment;
  const isAsked = askedFromMs !== null && askedFromMs + ASKED_BEFORE_MS <= receivedAtMs;
  const isAutomatic = matchedBy === "ADDRESS" || (matchedBy === "EXACT_AMOUNT" && isAsked);
  return isAutomatic && status === "CONFIRMED" ? (payment.usdMicros ?? 0n) : 0n;
}
