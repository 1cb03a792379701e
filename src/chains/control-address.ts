// An address of nobody's, on a network that is asked by address: where a source refuses another one and answers for this, the other is at fault
// and not the source. Made of a hash, so that nobody has its key, and without a history but what somebody sends there on purpose.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { encodeSegwit } from "./bitcoin/segwit.ts";
import type { Network } from "./network.ts";
import { addressOfHex } from "./tron/tron-hex.ts";

export function controlAddress({ family, utxo }: Pick<Network, "family" | "utxo">): string {
  const account = sha256(utf8ToBytes("an address of nobody's")).subarray(0, 20);
  if (utxo !== null) return encodeSegwit({ hrp: utxo.hrp, version: 0, program: account });
  const hex = bytesToHex(account);
  return (family === "tron" ? addressOfHex(`41${hex}`) : undefined) ?? `0x${hex}`;
}
