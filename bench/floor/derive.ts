// The floor's own derivation: one BIP32 CKDpub step from an already parsed chain node, and one bech32 encoding. No checks, no storage.
import { hmac } from "@noble/hashes/hmac.js";
import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { Point } from "@noble/secp256k1";
import { bech32 } from "@scure/base";
import { HDKey } from "@scure/bip32";

/** The account of BIP84's test vectors, m/84'/0'/0'. */
export const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
export const ZPUB_VERSIONS = { public: 0x04b24746, private: 0x04b2430c };
/** BIP84 "Test vectors": m/84'/0'/0'/0/0 and m/84'/0'/0'/0/1. */
export const FIRST_ADDRESSES = [
  "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
  "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
] as const;

export function floorDerivation(zpub: string): (index: number) => string {
  const chain = HDKey.fromExtendedKey(zpub, ZPUB_VERSIONS).deriveChild(0);
  const { publicKey, chainCode } = chain;
  if (publicKey === null || chainCode === null) throw new Error("an extended key without key or chain code");
  const parent = Point.fromBytes(publicKey);
  // serP(K) || ser32(i), 33 + 4 bytes (BIP32 "Public parent key -> public child key").
  const data = new Uint8Array(37);
  data.set(publicKey);
  const view = new DataView(data.buffer);
  return (index) => {
    view.setUint32(33, index);
    const tweak = hmac(sha512, chainCode, data).subarray(0, 32);
    const child = parent.add(Point.BASE.multiply(BigInt(`0x${bytesToHex(tweak)}`))).toBytes(true);
    return bech32.encode("bc", [0, ...bech32.toWords(ripemd160(sha256(child)))]);
  };
}
