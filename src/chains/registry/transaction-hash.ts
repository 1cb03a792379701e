import type { Network } from "./networks.ts";

const BARE = /^[0-9a-f]{64}$/;

/**
 * A transaction hash in the sources' form: lower case, with `0x` on EVM, elsewhere without; undefined if the text is not a hash. Wallets and explorers
 * show either form, so both are accepted on every network.
 */
export function transactionHash({ family }: Pick<Network, "family">, text: string): string | undefined {
  const bare = text.toLowerCase().replace(/^0x/, "");
  if (!BARE.test(bare)) return undefined;
  return family === "evm" ? `0x${bare}` : bare;
}
