import type { Network } from "./networks.ts";

const BARE = /^[0-9a-f]{64}$/;

/** A transaction's hash as sources write it: lower case, on EVM with `0x`, elsewhere without; undefined where the text is not such a hash. */
export function transactionHash({ family }: Pick<Network, "family">, text: string): string | undefined {
  const hash = text.toLowerCase();
  if (family === "evm") return hash.startsWith("0x") && BARE.test(hash.slice(2)) ? hash : undefined;
  return BARE.test(hash) ? hash : undefined;
}
