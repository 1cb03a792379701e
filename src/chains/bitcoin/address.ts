// Addresses of Bitcoin, Litecoin and their test networks (chains.md 5): P2PKH, P2SH, P2WPKH, P2WSH and P2TR, nothing that cannot be spent.
import { Point } from "@noble/secp256k1";
import { err, ok, type Result } from "../../lib/result.ts";
import { decodeBase58check, encodeBase58check, trimSpaces, whatItLooksLike } from "../address-text.ts";
import type { Network, UtxoParameters } from "../networks.ts";
import { decodeSegwit, type WitnessProgram } from "./segwit.ts";

/** Version bytes of P2SH that Litecoin once shared with Bitcoin: `3...` on the main network, `2...` on the test networks. */
const SHARED_P2SH: readonly number[] = [0x05, 0xc4];

/** The canonical form (bech32 in lower case), or why the text is no address of this network; the reason never repeats the text. */
export function parseBitcoinAddress(network: Network, text: string): Result<string, { readonly reason: string }> {
  const { utxo } = network;
  if (utxo === null) throw new Error(`${network.name} is no Bitcoin-like network`);
  const address = trimSpaces(text);
  const lower = address.toLowerCase();
  if (lower.startsWith(`${utxo.hrp}1`)) {
    const problem = segwitProblem(address);
    return problem === undefined ? ok(lower) : err({ reason: problem });
  }
  const payload = decodeBase58check(address);
  if (payload?.length === 21 && (payload[0] === utxo.p2pkh || payload[0] === utxo.p2sh)) return ok(address);
  const hint = payload?.length === 21 ? otherFormOf(network, utxo, payload) : undefined;
  return err({ reason: hint ?? whatItLooksLike(address) ?? `it is no ${network.displayName} address` });
}

function segwitProblem(address: string): string | undefined {
  const decoded = decodeSegwit(address);
  return decoded.ok ? programProblem(decoded.value) : decoded.error;
}

/** Version 0 has 20 or 32 bytes (BIP141), checked by the decoder; version 1 is a taproot key (BIP341); nothing else can be spent today. */
function programProblem({ version, program }: WitnessProgram): string | undefined {
  if (version === 0) return undefined;
  if (version > 1) return `witness version ${version} is not in use yet`;
  if (program.length === 2) return "this is a pay-to-anchor address, which anybody can spend from";
  if (program.length !== 32) return "its witness program is of a wrong length";
  return isXOnlyKey(program) ? undefined : "its taproot key is not on the curve, so nobody could spend from it";
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

/**
 * Litecoin moved its P2SH version from 0x05 (main) and 0xc4 (test) to 0x32 and 0x3a, because the old form is byte for byte a Bitcoin
 * address. The old form is refused; the same script hash in the new form is what the owner's wallet shows today.
 */
function otherFormOf(network: Network, utxo: UtxoParameters, payload: Uint8Array): string | undefined {
  const version = payload[0] ?? -1;
  if (network.nativeCode !== "LTC" || !SHARED_P2SH.includes(version) || network.isTest !== (version === 0xc4))
    return undefined;
  const form = encodeBase58check(Uint8Array.of(utxo.p2sh, ...payload.subarray(1)));
  return `this form cannot be told from a Bitcoin address; if it is yours on ${network.displayName}, register it as ${form}`;
}
