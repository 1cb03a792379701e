import type { Result } from "../../lib/result.ts";
import { parseBitcoinAddress } from "../bitcoin/address.ts";
import { parseEvmAddress } from "../evm/address.ts";
import type { Network } from "../registry/networks.ts";
import { parseTronAddress } from "../tron/address.ts";

/** The canonical form to store, or the reason why the text is not a receiving address on this network. */
export function parseAddress(network: Network, text: string): Result<string, { readonly reason: string }> {
  switch (network.family) {
    case "bitcoin":
      return parseBitcoinAddress(network, text);
    case "evm":
      return parseEvmAddress(network, text);
    case "tron":
      return parseTronAddress(network, text);
  }
}
