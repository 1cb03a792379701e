// Addresses of Bitcoin, Litecoin and their test networks: P2PKH, P2SH, P2WPKH, P2WSH and P2TR; unspendable ones are refused. @scure/btc-signer
// decides what counts as an address; this file only explains what is wrong with a string.
import { Point } from "@noble/secp256k1";
import { Address } from "@scure/btc-signer";
import { err, ok, type Result } from "../../lib/result.ts";
import { decodeBase58check, trimSpaces, whatItLooksLike } from "../encodings/address-text.ts";
import { decodeSegwit } from "../encodings/segwit.ts";
import type { Network, UtxoParameters } from "../registry/networks.ts";

/** Version bytes of P2SH that Litecoin once shared with Bitcoin: `3...` on the main network, `2...` on the test networks. */
const SHARED_P2SH: readonly number[] = [0x05, 0xc4];

/** The library's description of a network. */
export type AddressPrefixes = NonNullable<Parameters<typeof Address>[0]>;

/** The private key prefix is 0, because private keys are never written or read. */
export function addressPrefixes({ hrp, p2pkh, p2sh }: UtxoParameters): AddressPrefixes {
  return { bech32: hrp, pubKeyHash: p2pkh, scriptHash: p2sh, wif: 0 };
}

/** The canonical form (bech32 in lower case), or why the text is not an address on this network; the reason never repeats the text. */
export function parseBitcoinAddress(network: Network, text: string): Result<string, { readonly reason: string }> {
  const { utxo } = network;
  if (utxo === null) throw new Error(`${network.name} is no Bitcoin-like network`);
  const address = trimSpaces(text);
  const canonical = spendable(utxo, address);
  if (canonical !== undefined) return ok(canonical);
  return err({ reason: whyNot(network, utxo, address) });
}

/** The canonical form of an address whose owner can spend what is paid to it; else undefined. */
function spendable(utxo: UtxoParameters, address: string): string | undefined {
  const coder = Address(addressPrefixes(utxo));
  try {
    const output = coder.decode(address);
    // The library does not check a taproot key, and anyone can spend from a pay-to-anchor address.
    if (output.type === "p2a" || (output.type === "tr" && !isXOnlyKey(output.pubkey))) return undefined;
    return coder.encode(output);
  } catch {
    return undefined;
  }
}

/** BIP340 `lift_x`: 32 bytes are a key when some point has them as its x coordinate. */
function isXOnlyKey(program: Uint8Array): boolean {
  try {
    Point.fromBytes(Uint8Array.of(0x02, ...program));
    return true;
  } catch {
    return false;
  }
}

function whyNot(network: Network, utxo: UtxoParameters, address: string): string {
  const isSegwit = address.toLowerCase().startsWith(`${utxo.hrp}1`);
  const reason = isSegwit ? segwitProblem(address) : (otherFormOf(network, utxo, address) ?? whatItLooksLike(address));
  return reason ?? `not a valid ${network.displayName} address`;
}

function segwitProblem(address: string): string | undefined {
  const decoded = decodeSegwit(address);
  if (!decoded.ok) return decoded.error;
  const { version, program } = decoded.value;
  if (version > 1) return `witness version ${version} is not in use yet`;
  if (program.length === 2) return "this is a pay-to-anchor address, which anyone can spend from";
  if (program.length !== 32) return "its witness program has the wrong length";
  return "its taproot key is not on the curve, so nobody could spend from it";
}

/**
 * Litecoin moved its P2SH version from 0x05 (main) and 0xc4 (test) to 0x32 and 0x3a, because the old form is byte for byte a Bitcoin address.
 * Refuses the old form and names the new one; the same script hash in the new form is what the owner's wallet shows today.
 */
function otherFormOf(network: Network, utxo: UtxoParameters, address: string): string | undefined {
  const payload = decodeBase58check(address);
  const version = payload?.[0] ?? -1;
  if (payload?.length !== 21 || network.nativeCode !== "LTC" || !SHARED_P2SH.includes(version)) return undefined;
  if (network.isTest !== (version === 0xc4)) return undefined;
  const form = Address(addressPrefixes(utxo)).encode({ type: "sh", hash: payload.slice(1) });
  return `this form looks the same as a Bitcoin address; if it is your ${network.displayName} address, register it as ${form}`;
}
