import type { Rank } from "../../platform/column-values.ts";
// A merchant's proof for an address or an extended key (decisions 12, "Shared addresses and keys"). Addresses are public, so being the first to
// register one proves nothing, but receiving money at it for an invoice does.

/** Highest rank first. */
export const RANKS: readonly Rank[] = [1, 2, 3];
export const PROVEN: Rank = 2;
export const UNPROVEN: Rank = 3;

/** A merchant's rank at an address, and whether other merchants have a live wallet with it. */
export interface Sharing {
  readonly rank: Rank;
  /** Whether any other merchant has a live wallet with the address. */
  readonly hasOthers: boolean;
  /** How many other merchants with proof have a live wallet with the address. */
  readonly provenOthers: number;
}

/** Whether a merchant of this rank shares the address with others. Merchants of a lower rank do not count, however many register it. */
export function isShared({ hasOthers, provenOthers }: Omit<Sharing, "rank">, rank: Rank): boolean {
  return rank === UNPROVEN ? hasOthers : provenOthers > 0;
}

/**
 * Rank 2 requires this much money, in millionths of a US dollar, in confirmed payments that rules matched by exact amount or address, including
 * payments to a key's addresses.
 */
export const PROOF_USD_MICROS = 50_000_000n;

/** Rank 2 also requires at least this fraction (1/10) of the largest proof for the address or key. */
export const PROOF_OF_LARGEST = 10;
/**
 * An amount proves something only if it was asked for at least this long before the payment, because anyone can see a transfer before it is mined.
 */
const ASKED_BEFORE_MS = 60_000;

/** What a payment proves about who owns an address depends on these columns. */
interface Evidence {
  readonly status: string;
  readonly matchedBy: string | null;
  readonly usdMicros: bigint | null;
  /** The payment's time. */
  readonly receivedAtMs: number;
}

/**
 * How much a payment adds to its merchant's proof; 0 unless a rule matched it by its exact amount or address. `askedFromMs`: when that exact amount
 * was first asked for; null if unknown.
 */
export function proofMicros(payment: Evidence, askedFromMs: number | null): bigint {
  const { status, matchedBy, receivedAtMs } = payment;
  const isAsked = askedFromMs !== null && askedFromMs + ASKED_BEFORE_MS <= receivedAtMs;
  const isAutomatic = matchedBy === "ADDRESS" || (matchedBy === "EXACT_AMOUNT" && isAsked);
  return isAutomatic && status === "CONFIRMED" ? (payment.usdMicros ?? 0n) : 0n;
}
