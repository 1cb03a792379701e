// Which transfers are too small to be a payment (decisions 5, "Dust"): they are stored as IGNORED, not counted in any sum and never reported. Dust is
// sent to addresses to find out who owns them, and would fill the list of payments.
import type { Network } from "../../chains/registry/network.ts";

/** Nodes do not relay an output to a key's hash below this limit: three times the cost of spending it. */
const DUST_LIMITS: Readonly<Record<string, bigint>> = {
  // policy.cpp, DUST_RELAY_TX_FEE: 3,000 satoshi per kvB, for the 182 bytes that creating and spending an output takes.
  BTC: 546n,
  // Litecoin Core's rate is ten times as high.
  LTC: 5_460n,
};

const UNMATCHED_DUST_MICROS = 100_000n;

/** The asset's dust limit in base units. It does not depend on the amount's value. */
export function dustLimitUnits(network: Pick<Network, "family">, cryptocurrency: string): bigint {
  return network.family === "bitcoin" ? (DUST_LIMITS[cryptocurrency] ?? 1n) : 1n;
}

interface DustFacts {
  readonly network: Pick<Network, "family">;
  readonly cryptocurrency: string;
  readonly amountUnits: bigint;
}

/**
 * Whether a transfer that a rule would credit is dust: below the asset's dust limit, or below both 1 % of the invoice's amount and the underpaid
 * tolerance. An amount that a page asks for is never dust: what is left is asked for only if it exceeds the tolerance. For an any-amount invoice only
 * the dust limit applies.
 */
export function isCreditedDust(
  of: DustFacts & {
    /** The invoice's amount; 0 for any amount. */
    readonly expectedMicros: bigint;
    readonly underpaidToleranceMicros: bigint;
    /** The transfer's value by the quote, in micro-units of the invoice currency; null if unknown. */
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
