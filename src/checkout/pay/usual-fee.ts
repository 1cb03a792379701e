// What a network usually takes for one transfer, in words: fees change from block to block, so no figure is stated, and nothing where no source says
// it. The sources are in docs/guides/checkout.md, "Amounts, times and fees".
import type { NetworkName } from "../../chains/registry/networks.ts";
import { type Pair, pairOf } from "../../chains/registry/pair.ts";

/** `LOW`: some cents at most. `MEDIUM`: can be dollars. `VARIES`: from cents to many dollars, as full as the blocks are. */
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
  // A token's transfer takes energy, which is bought with TRX where the payer has staked none.
  TRX: { coin: "LOW", token: "MEDIUM" },
};

/** Null if it is not known, and on test networks. */
export function usualFee(pair: Pair): UsualFee | null {
  const { network, asset } = pairOf(pair);
  const fees = FEES[network.name];
  if (fees === undefined) return null;
  return asset.contract === null ? fees.coin : fees.token;
}
