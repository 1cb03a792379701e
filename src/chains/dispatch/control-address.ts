// An address that nobody owns, for networks that are read by address: if a source refuses a watched address but answers for this one, the fault lies
// with the watched address, not the source. It is made from a hash, so nobody has its key. It has no history unless someone pays it on purpose.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Address } from "@scure/btc-signer";
import { addressPrefixes } from "../bitcoin/address.ts";
import type { Network } from "../registry/network.ts";
import { addressOfHex } from "../tron/tron-hex.ts";

export function controlAddress({ family, utxo }: Pick<Network, "family" | "utxo">): string {
  const account = sha256(utf8ToBytes("an address of nobody's")).subarray(0, 20);
  if (utxo !== null) return Address(addressPrefixes(utxo)).encode({ type: "wpkh", hash: account });
  const hex = bytesToHex(account);
  return (family === "tron" ? addressOfHex(`41${hex}`) : undefined) ?? `0x${hex}`;
}
