import type { Network } from "./networks.ts";

const BARE = /^[0-9a-f]{64}$/;

/** A transaction hash in the sources' form: lower case, with `0x` on EVM, elsewhere without; undefined if the text is not such a hash. */
export function transactionHash({ family }: Pick<Network, "family">, text: string): string | undefined {
  const hash = text.toLowerCase();
  if (family === "evm") return hash.startsWith("0x") && BARE.test(hash.slice(2)) ? hash : undefined;
  return BARE.test(hash) ? hash : undefined;
}
