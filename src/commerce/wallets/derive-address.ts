// From an account's public key to the address at `<account>/0/<index>` (BIP32 CKDpub; BIP44, BIP49, BIP84). Synchronous: it runs inside
// the allocator's atomic step. Our own, because a library's derivation parses the parent point again for every child, and most of a
// derivation is that square root; the tests hold it equal to two libraries.
import { hmac } from "@noble/hashes/hmac.js";
import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { Point } from "@noble/secp256k1";
import { encodeBase58check } from "../../chains/address-text.ts";
import { encodeSegwit } from "../../chains/bitcoin/segwit.ts";
import type { Network, UtxoParameters } from "../../chains/networks.ts";
import { bytesToHex } from "../../lib/bytes.ts";
import type { ExtendedKey, Scheme } from "./extended-key.ts";

/** Child numbers from here on are hardened, which a public key cannot derive. */
const HARDENED = 0x80000000;
const CURVE_ORDER = Point.CURVE().n;
const TWICE_BASE = Point.BASE.double();
/**
 * The library's first multiplication of the base point in an isolate builds a table of some thousand points, about as long as a dozen
 * multiplications without it. A chain's first few go without, so that a cold start answers sooner; a busy chain loses next to nothing.
 */
const WITHOUT_TABLE = 4;

/** A node with its point parsed and the HMAC of its chain code keyed. */
interface ParentNode {
  readonly point: Point;
  readonly publicKey: Uint8Array;
  readonly keyedMac: ReturnType<typeof hmac.create>;
}

/** The external chain of an account, `<account>/0`, ready to derive from: make it once per key, then ask for addresses. */
export interface ReceiveChain {
  readonly node: ParentNode;
  readonly scheme: Scheme;
  readonly utxo: UtxoParameters;
  /** How many addresses it has derived; decides how fast, never what. */
  derivedCount: number;
}

/** `network` must be the one the key was parsed for. */
export function receiveChain(key: ExtendedKey, network: Network): ReceiveChain {
  if (network.utxo === null) throw new Error(`${network.name} derives no addresses`);
  const account = parentNode(Point.fromBytes(key.publicKey), key.publicKey, key.chainCode);
  const { point, chainCode } = childOf(account, 0, multipleWithoutTable);
  return {
    node: parentNode(point, point.toBytes(), chainCode),
    scheme: key.scheme,
    utxo: network.utxo,
    derivedCount: 0,
  };
}

/** The address at `<account>/0/<index>`; `index` is 0 to 2^31 - 1. The same index always gives the same address. */
export function addressAt(chain: ReceiveChain, index: number): string {
  const multiple = chain.derivedCount++ < WITHOUT_TABLE ? multipleWithoutTable : multipleByTable;
  return addressOf(chain, childOf(chain.node, index, multiple).point.toBytes());
}

type BaseMultiple = (scalar: bigint) => Point;

const multipleByTable: BaseMultiple = (scalar) => Point.BASE.multiply(scalar);

/** The same point as half the scalar times twice the base point, which the library multiplies by plain double-and-add. */
const multipleWithoutTable: BaseMultiple = (scalar) =>
  TWICE_BASE.multiplyUnsafe((scalar % 2n === 0n ? scalar : scalar + CURVE_ORDER) / 2n);

function parentNode(point: Point, publicKey: Uint8Array, chainCode: Uint8Array): ParentNode {
  return { point, publicKey, keyedMac: hmac.create(sha512, chainCode) };
}

/**
 * BIP32 "Public parent key -> public child key": I = HMAC-SHA512(chain code, serP(K) || ser32(i)); the child is point(I_L) + K, its chain
 * code I_R. An I_L of the curve's order or more, or a sum at infinity, has no child: 1 in 2^127, so it is a bug's symptom and throws.
 */
function childOf(
  parent: ParentNode,
  index: number,
  multiple: BaseMultiple,
): { readonly point: Point; readonly chainCode: Uint8Array } {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED)
    throw new Error(`no public child has number ${index}`);
  const number = Uint8Array.of(index >>> 24, index >>> 16, index >>> 8, index);
  const digest = parent.keyedMac.clone().update(parent.publicKey).update(number).digest();
  const tweak = BigInt(`0x${bytesToHex(digest.subarray(0, 32))}`);
  if (tweak === 0n || tweak >= CURVE_ORDER) throw new Error(`child ${index} has no valid tweak`);
  const point = multiple(tweak).add(parent.point);
  if (point.is0()) throw new Error(`child ${index} is the point at infinity`);
  return { point, chainCode: digest.slice(32) };
}

/** P2PKH: version, key hash. P2SH-P2WPKH (BIP49): version, hash of the script `0 <20-byte key hash>`. P2WPKH: witness version 0, key hash. */
function addressOf({ scheme, utxo }: ReceiveChain, publicKey: Uint8Array): string {
  const keyHash = hash160(publicKey);
  switch (scheme) {
    case "BIP44":
      return encodeBase58check(Uint8Array.of(utxo.p2pkh, ...keyHash));
    case "BIP49":
      return encodeBase58check(Uint8Array.of(utxo.p2sh, ...hash160(Uint8Array.of(0x00, 0x14, ...keyHash))));
    case "BIP84":
      return encodeSegwit({ hrp: utxo.hrp, version: 0, program: keyHash });
  }
}

function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes));
}
