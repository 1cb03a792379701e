// The usual fee for one transfer on a network, in words: fees change from block to block, so no figure is given. If no source states a fee, nothing
// is shown. The sources are in docs/guides/checkout.md, "Amounts, times and fees".
import type { NetworkName } from "../../chains/registry/networks.ts";
import { type Pair, pairOf } from "../../chains/registry/pair.ts";

/** `LOW`: a few cents at most. `MEDIUM`: can be dollars. `VARIES`: from cents to many dollars, depending on how full the blocks are. */
export const USUAL_FEES = ["LOW", "MEDIUM", "VARIES"] as const;
export type UsualFee = (typeof USUAL_FEES)[number];

const FEES: Partial<Record<NetworkName, { readonly coin: UsualFee; readonly token: UsualFee }>> = {
  BTC: { coin: "VARIES", token: "VARIES" },
  LTC: { coin: "LOW", token: "LOW" },
  ETH: { coin: "VARIES", token: "VARIES" },
  POL: { coin: "LOW", token: "LOW" },
  BNB: { coin: "LOW", token: "LOW" },
  BASE: { coin: "LOW", token: "LOW" },
  ARBITRUM: { coin: "LOW", token: "LOW" },
  OPTIMISM: { coin: "LOW", token: "LOW" },
  // A token transfer uses energy, which costs TRX unless the payer has staked some.
  TRX: { coin: "LOW", token: "MEDIUM" },
};

/** Null if it is not known, and on test networks. */
export function usualFee(pair: Pair): UsualFee | null {
  const { network, asset } = pairOf(pair);
  const fees = FEES[network.name];
  if (fees === undefined) return null;
  return asset.contract === null ? fees.coin : fees.token;
}
