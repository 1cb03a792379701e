// A caller's network as storage knows it: by a keyed hash of each merchant's own, so that neither a table nor a backup tells who asked, nor that
// the same asked two merchants.
import { lengthPrefixed } from "../../lib/bytes.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { macsOfText } from "../../lib/keyring.ts";
import type { MacKeys } from "../wallets/row-mac.ts";

export interface PublicNetwork {
  /** By the newest secret: what is stored. */
  readonly hash: string;
  /** By every secret, newest first: what is looked for. */
  readonly hashes: readonly string[];
  /** How many callers it counts for. */
  readonly times: number;
}

export function publicNetworks(
  keys: MacKeys,
  merchantId: string,
  callers: readonly CallerNetwork[],
): readonly PublicNetwork[] {
  return callers.map(({ network, times }) => {
    const hashes = macsOfText(keys, lengthPrefixed(["v1", "caller-network", merchantId, network]));
    const [hash = ""] = hashes;
    return { hash, hashes, times };
  });
}
