// What is too little to be a payment (decisions 5, "Dust"): stored IGNORED, counted in no sum, reported to nobody. Dust is sent to addresses to
// find out who owns them, and a list of it would hide what matters.
import type { Network } from "../../chains/network.ts";

/** Below it a node of the network does not even relay an output that is spent by a key's hash: three times what spending it costs. */
const DUST_LIMITS: Readonly<Record<string, bigint>> = {
  // policy.cpp, DUST_RELAY_TX_FEE: 3,000 satoshi a kvB for the 182 bytes of making and spending an output.
  BTC: 546n,
  // Ten times as much in Litecoin Core.
  LTC: 5_460n,
};

/** 0.10 USD. */
const UNMATCHED_DUST_MICROS = 100_000n;

/** The smallest amount of an asset that is no dust whatever it is worth, in base units. */
export function dustLimitUnits(network: Pick<Network, "family">, cryptocurrency: string): bigint {
  return network.family === "bitcoin" ? (DUST_LIMITS[cryptocurrency] ?? 1n) : 1n;
}

export interface DustFacts {
  readonly network: Pick<Network, "family">;
  readonly cryptocurrency: string;
  readonly amountUnits: bigint;
}

/**
 * Whether a transfer that a rule would credit is too little: below the asset's dust limit, or below both 1 % of E and what may be missing of E.
 * What a page asks for is never that: a rest is asked only where more is missing than the tolerance forgives. With E = 0 the limit alone.
 */
export function isCreditedDust(
  of: DustFacts & {
    /** E. */
    readonly expectedMicros: bigint;
    readonly underpaidToleranceMicros: bigint;
    /** What it is worth against what was asked, in micro-units of the invoice currency; null where that is not known. */
    readonly valueMicros: bigint | null;
  },
): boolean {
  if (isBelowLimit(of)) return true;
  const { valueMicros, expectedMicros, underpaidToleranceMicros } = of;
  return valueMicros !== null && valueMicros * 100n < expectedMicros && valueMicros < underpaidToleranceMicros;
}

/** Whether a transfer that no rule credits is too little: below the asset's dust limit, or below 0.10 USD where its worth is known. */
export function isUnmatchedDust(of: DustFacts & { readonly usdMicros: bigint | null }): boolean {
  if (isBelowLimit(of)) return true;
  return of.usdMicros !== null && of.usdMicros < UNMATCHED_DUST_MICROS;
}

function isBelowLimit({ network, cryptocurrency, amountUnits }: DustFacts): boolean {
  return amountUnits < dustLimitUnits(network, cryptocurrency);
}
