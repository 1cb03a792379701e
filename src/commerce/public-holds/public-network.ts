// A caller's IP network, stored as a keyed hash for each merchant. So neither a table nor a backup reveals who the caller was, or that the same
// caller bought from two merchants.
import { lengthPrefixed } from "../../lib/bytes.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { macsOfText } from "../../lib/keyring.ts";
import type { MacKeys } from "../wallet-records/row-mac.ts";

interface PublicNetwork {
  /** Computed with the newest secret; this hash is stored. */
  readonly hash: string;
  /** Computed with every secret, newest first; all are looked up. */
  readonly hashes: readonly string[];
  /** The limits of a single caller are multiplied by this for the network. */
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
