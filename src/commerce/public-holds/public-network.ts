// A caller's IP network as stored: a keyed hash per merchant. So neither a table nor a backup reveals who the caller was, nor that the same caller
// used two merchants.
import { lengthPrefixed } from "../../lib/bytes.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { macsOfText } from "../../lib/keyring.ts";
import type { MacKeys } from "../wallet-records/row-mac.ts";

interface PublicNetwork {
  /** With the newest secret; this one is stored. */
  readonly hash: string;
  /** With every secret, newest first; all are looked up. */
  readonly hashes: readonly string[];
  /** For how many callers its limits count. */
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
