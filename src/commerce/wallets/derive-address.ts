// Derives the address at `<account>/0/<index>` from an account's public key (BIP32 CKDpub; BIP44, BIP49, BIP84). Synchronous: it runs inside the
// allocator's atomic step. The parent node is kept for all addresses: parsing the account's key and deriving the parent for each address would double
// the time. @scure/bip32 derives the key, and @scure/btc-signer encodes the address.
import { HARDENED_OFFSET, type HDKey } from "@scure/bip32";
import { Address, OutScript, p2sh } from "@scure/btc-signer";
import { type AddressPrefixes, addressPrefixes } from "../../chains/bitcoin/address.ts";
import type { Network } from "../../chains/registry/networks.ts";
import { accountNode, type ExtendedKey, type Scheme } from "./extended-key.ts";

/** The external chain of an account, `<account>/0`, ready to derive from. Create it once per key. */
export interface ReceiveChain {
  readonly node: HDKey;
  readonly scheme: Scheme;
  readonly prefixes: AddressPrefixes;
}

/** `network` must be the one the key was parsed for. */
export function receiveChain(key: ExtendedKey, network: Network): ReceiveChain {
  if (network.utxo === null) throw new Error(`${network.name} has no address derivation`);
  return { node: accountNode(key).deriveChild(0), scheme: key.scheme, prefixes: addressPrefixes(network.utxo) };
}

/** The address at `<account>/0/<index>`; `index` is 0 to 2^31 - 1. The same index always gives the same address. */
export function addressAt(chain: ReceiveChain, index: number): string {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED_OFFSET)
    throw new Error(`no public child has index ${index}`);
  const child = chain.node.deriveChild(index);
  // If an index has no key (1 in 2^127), the library takes the next index, whose address belongs to another invoice.
  if (child.index !== index || child.pubKeyHash === undefined) throw new Error(`child ${index} has no key`);
  return addressOf(chain, child.pubKeyHash);
}

/** Path of the `index`-th receiving address below an account's key. */
export function receivePath(key: Pick<ExtendedKey, "derivationPath">, index: number): string {
  return `${key.derivationPath}/0/${index}`;
}

/**
 * Encodes the hash that the library has already computed from the public key. The library's functions that take a public key would validate its point
 * again, which adds a fifth to the time of a derivation.
 */
function addressOf({ scheme, prefixes }: ReceiveChain, hash: Uint8Array): string {
  switch (scheme) {
    case "BIP44":
      return Address(prefixes).encode({ type: "pkh", hash });
    case "BIP49":
      return p2sh({ type: "wpkh", script: OutScript.encode({ type: "wpkh", hash }) }, prefixes).address;
    case "BIP84":
      return Address(prefixes).encode({ type: "wpkh", hash });
  }
}
