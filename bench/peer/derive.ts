// Derives addresses as a Node server does: with WebAssembly, because BigInt is slow in Node.
import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bech32 } from "@scure/base";
import { BIP32Factory } from "bip32";
import * as curve from "tiny-secp256k1";
import { ZPUB, ZPUB_VERSIONS } from "../floor/derive.ts";

/** Bitcoin's prefixes; only `bip32` is used. */
const NETWORK = {
  messagePrefix: "\x18Bitcoin Signed Message:\n",
  bech32: "bc",
  bip32: ZPUB_VERSIONS,
  pubKeyHash: 0x00,
  scriptHash: 0x05,
  wif: 0x80,
};

export function peerDerivation(): (index: number) => string {
  const chain = BIP32Factory(curve).fromBase58(ZPUB, NETWORK).derive(0);
  return (index) => {
    const { publicKey } = chain.derive(index);
    return bech32.encode("bc", [0, ...bech32.toWords(ripemd160(sha256(publicKey)))]);
  };
}
