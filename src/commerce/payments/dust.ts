// Which transfers are too small to be a payment (decisions 5, "Dust"): they are stored as IGNORED, counted in no sum and never reported. Dust is
// sent to addresses to find out who owns them, and would crowd the list of payments.
import type { Network } from "../../chains/registry/network.ts";

/** A node does not relay an output to a key's hash below this limit: three times the cost of spending it. */
const DUST_LIMITS: Readonly<Record<string, bigint>> = {
  // policy.cpp, DUST_RELAY_TX_FEE: 3,000 satoshi per kvB, for the 182 bytes that creating and spending an output takes.
  BTC: 546n,
  // Ten times as much in Litecoin Core.
  LTC: 5_460n,
};

/** 0.10 USD. */
const UNMATCHED_DUST_MICROS = 100_000n;

/** The asset's dust limit in base units, whatever the amount's value. */
export function dustLimitUnits(network: Pick<Network, "family">, cryptocurrency: string): bigint {
  return network.family === "bitcoin" ? (DUST_LIMITS[cryptocurrency] ?? 1n) : 1n;
}

interface DustFacts {
  readonly network: Pick<Network, "family">;
  readonly cryptocurrency: string;
  readonly amountUnits: bigint;
}

/**
 * Whether a transfer that a rule would credit is dust: below the asset's dust limit, or below both 1 % of E and the underpaid tolerance. An
 * amount that a page asks for is never dust: a rest is asked for only if it exceeds the tolerance. With E = 0 only the dust limit counts.
 */
export function isCreditedDust(
  of: DustFacts & {
    /** E. */
    readonly expectedMicros: bigint;
    readonly underpaidToleranceMicros: bigint;
    /** Its value against the quote, in micro-units of the invoice currency; null if unknown. */
    readonly valueMicros: bigint | null;
  },
): boolean {
  if (isBelowLimit(of)) return true;
  const { valueMicros, expectedMicros, underpaidToleranceMicros } = of;
  return valueMicros !== null && valueMicros * 100n < expectedMicros && valueMicros < underpaidToleranceMicros;
}

/** Whether a transfer that no rule credits is dust: below the asset's dust limit, or below 0.10 USD if its value is known. */
export function isUnmatchedDust(of: DustFacts & { readonly usdMicros: bigint | null }): boolean {
  if (isBelowLimit(of)) return true;
  return of.usdMicros !== null && of.usdMicros < UNMATCHED_DUST_MICROS;
}

function isBelowLimit({ network, cryptocurrency, amountUnits }: DustFacts): boolean {
  return amountUnits < dustLimitUnits(network, cryptocurrency);
}
