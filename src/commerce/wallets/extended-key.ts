// An account's extended public key (BIP32, SLIP-132): all checks are made here, once, before a wallet uses the key
// (decisions 3). A key that derives the wrong addresses loses money silently. @scure/bip32 parses the key and checks its point. It does not
// check that the key is an account's, nor its network and scheme.
import { HARDENED_OFFSET, HDKey } from "@scure/bip32";
import { decodeBase58check, trimSpaces } from "../../chains/encodings/address-text.ts";
import type { Network } from "../../chains/registry/networks.ts";
import { looksLikeSecret } from "../../chains/secrets/secret-material.ts";
import { bytesToHex, lengthPrefixed, sha256Hex } from "../../lib/bytes.ts";
import { err, ok, type Result } from "../../lib/result.ts";

export type Scheme = "BIP44" | "BIP49" | "BIP84";

export interface ExtendedKey {
  /** The key as the merchant gave it, trimmed. */
  readonly xpub: string;
  readonly scheme: Scheme;
  readonly account: number;
  readonly chainCode: Uint8Array;
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array;
  /** First four bytes of the key's HASH160, hex (BIP32 "Key identifiers"). */
  readonly fingerprint: string;
  readonly parentFingerprint: string;
  /**
   * The allocator's name: SHA-256 of network, scheme, chain code and public key. The encoding of the key and its parent do not affect it (decisions
   * 3).
   */
  readonly keyHash: string;
  /** Canonical, with apostrophes: `m/84'/0'/0'`. */
  readonly derivationPath: string;
}

interface ExtendedKeyRefusal {
  readonly code: "INVALID_XPUB" | "DERIVATION_PATH_MISMATCH" | "PRIVATE_KEY_REFUSED";
  /** Starts in lower case; never repeats the key. */
  readonly reason: string;
}

interface Version {
  readonly prefix: string;
  readonly scheme: Scheme;
  readonly isTest: boolean;
  /** Litecoin's own prefix, never accepted for Bitcoin. */
  readonly isLitecoin: boolean;
}

const main = (prefix: string, scheme: Scheme): Version => ({ prefix, scheme, isTest: false, isLitecoin: false });
const test = (prefix: string, scheme: Scheme): Version => ({ prefix, scheme, isTest: true, isLitecoin: false });

/** The versions by the first four bytes of a key (SLIP-132). */
const VERSIONS: Readonly<Record<string, Version>> = {
  "0488b21e": main("xpub", "BIP44"),
  "049d7cb2": main("ypub", "BIP49"),
  "04b24746": main("zpub", "BIP84"),
  "043587cf": test("tpub", "BIP44"),
  "044a5262": test("upub", "BIP49"),
  "045f1cf6": test("vpub", "BIP84"),
  "019da462": { ...main("Ltub", "BIP44"), isLitecoin: true },
  "01b26ef6": { ...main("Mtub", "BIP49"), isLitecoin: true },
  "0436f6e1": { ...test("ttub", "BIP44"), isLitecoin: true },
};

const MULTISIG: Readonly<Record<string, string>> = {
  "0295b43f": "Ypub",
  "02aa7ed3": "Zpub",
  "024289ef": "Upub",
  "02575483": "Vpub",
};

const PURPOSES: Readonly<Record<Scheme, number>> = { BIP44: 44, BIP49: 49, BIP84: 84 };
const ACCOUNT_DEPTH = 3;
/** BIP32's own version, for main networks. */
export const XPUB_VERSION = 0x0488b21e;
/**
 * Three hardened levels: purpose, coin type, account (BIP44). Clients of older servers also name the receiving chain, which is used anyway. Any other
 * fourth level would derive different addresses.
 */
const PATH = /^m\/(0|[1-9]\d{0,9})['h]\/(0|[1-9]\d{0,9})['h]\/(0|[1-9]\d{0,9})['h](?:\/0)?$/;

/** The parsed key of an account, or the first reason to refuse it. */
export function parseExtendedKey(input: {
  readonly network: Network;
  readonly xpub: string;
  readonly derivationPath: string;
}): Result<ExtendedKey, ExtendedKeyRefusal> {
  const { network } = input;
  const xpub = trimSpaces(input.xpub);
  if (looksLikeSecret(xpub) || looksLikeSecret(input.derivationPath)) {
    return refuse(
      "PRIVATE_KEY_REFUSED",
      "this is a private key, which can spend the money: send the extended public key instead",
    );
  }
  const payload = decodeBase58check(xpub);
  if (payload?.length !== 78) return refuse("INVALID_XPUB", whyNoKey(xpub, payload));
  const prefix = bytesToHex(payload.subarray(0, 4));
  const version = VERSIONS[prefix];
  if (version === undefined) return refuse("INVALID_XPUB", unknownVersion(prefix));
  const problem = versionProblem(version, network) ?? accountProblem(payload);
  if (problem !== undefined) return refuse("INVALID_XPUB", problem);
  const node = readNode(xpub, Number.parseInt(prefix, 16));
  if (node === undefined) return refuse("INVALID_XPUB", "its public key is not on the curve");
  const account = node.index - HARDENED_OFFSET;
  const mismatch = pathProblem({ path: trimSpaces(input.derivationPath), version, network, account });
  if (mismatch !== undefined) return refuse("DERIVATION_PATH_MISMATCH", mismatch);
  const { scheme } = version;
  const { chainCode, publicKey } = node;
  if (chainCode === null || publicKey === null) throw new Error("an extended key has no chain code or public key");
  return ok({
    xpub,
    scheme,
    account,
    chainCode,
    publicKey,
    fingerprint: fourBytes(node.fingerprint),
    parentFingerprint: fourBytes(node.parentFingerprint),
    keyHash: sha256Hex(lengthPrefixed([network.name, scheme, bytesToHex(chainCode), bytesToHex(publicKey)])),
    derivationPath: `m/${PURPOSES[scheme]}'/${network.coinType}'/${account}'`,
  });
}

/** The account as a node of @scure/bip32. `version`: the first four bytes of the serialized key. */
export function accountNode(key: ExtendedKey, version = XPUB_VERSION): HDKey {
  const { account, chainCode, publicKey } = key;
  return new HDKey({
    versions: publicVersion(version),
    depth: ACCOUNT_DEPTH,
    parentFingerprint: Number.parseInt(key.parentFingerprint, 16),
    index: HARDENED_OFFSET + account,
    chainCode,
    publicKey,
  });
}

/** Undefined if the 33 bytes are not a point on the curve. The other checks of the library were made before. */
function readNode(xpub: string, version: number): HDKey | undefined {
  try {
    return HDKey.fromExtendedKey(xpub, publicVersion(version));
  } catch {
    return undefined;
  }
}

/** The private version 0 matches no private key, so the library accepts only public keys. */
const publicVersion = (version: number) => ({ public: version, private: 0 });

const fourBytes = (value: number) => value.toString(16).padStart(8, "0");

function whyNoKey(xpub: string, payload: Uint8Array | undefined): string {
  if (payload !== undefined) return `not an extended public key: expected 78 bytes, got ${payload.length}`;
  return /^[a-zA-Z]{1,2}(pub|ub)[1-9A-HJ-NP-Za-km-z]{90,}/.test(xpub)
    ? "its checksum does not match: a character is wrong or missing"
    : "not an extended public key: expected Base58Check text of 78 bytes";
}

function unknownVersion(version: string): string {
  const multisig = MULTISIG[version];
  if (multisig !== undefined)
    return `a ${multisig} belongs to a multi-signature wallet: send the xpub, ypub or zpub of a single-key wallet`;
  return "its prefix is unknown: send an xpub, ypub or zpub, or on a test network a tpub, upub or vpub";
}

function versionProblem(version: Version, network: Network): string | undefined {
  const { prefix } = version;
  if (version.isTest && !network.isTest)
    return `a ${prefix} is a key of a test network, but ${network.displayName} is a main network: send an xpub, ypub or zpub`;
  if (!version.isTest && network.isTest)
    return `a ${prefix} is a key of a main network, but ${network.displayName} is a test network: send a tpub, upub or vpub`;
  if (version.isLitecoin && network.nativeCode !== "LTC")
    return `a ${prefix} is a key of Litecoin, not of ${network.displayName}`;
  return undefined;
}

/** BIP32 "Serialization format": the depth is the fifth byte, the child number is in the tenth to the thirteenth, most significant first. */
function accountProblem(payload: Uint8Array): string | undefined {
  const [depth, childNumber = 0] = [payload[4], payload[9]];
  if (depth !== ACCOUNT_DEPTH)
    return `its depth is ${depth}: send the key of an account, which has depth ${ACCOUNT_DEPTH}`;
  return childNumber < 0x80
    ? "its child number is not hardened: send the key of an account, as at m/84'/0'/0'"
    : undefined;
}

function pathProblem(of: { path: string; version: Version; network: Network; account: number }): string | undefined {
  const [, purpose, coinType, account] = PATH.exec(of.path) ?? [];
  if (purpose === undefined || coinType === undefined || account === undefined) {
    return "not the path of an account: expected three hardened levels, as in m/84'/0'/0', and at most /0 after them";
  }
  const { prefix, scheme } = of.version;
  const wanted = PURPOSES[scheme];
  if (Number(purpose) !== wanted)
    return `a ${prefix} is a ${scheme} key: its path starts with m/${wanted}', not m/${purpose}'`;
  if (Number(coinType) !== of.network.coinType) {
    return `the coin type of ${of.network.displayName} is ${of.network.coinType}', not ${coinType}'`;
  }
  if (Number(account) !== of.account)
    return `the key belongs to account ${of.account}', but the path to account ${account}'`;
  return undefined;
}

function refuse(code: ExtendedKeyRefusal["code"], reason: string): Result<never, ExtendedKeyRefusal> {
  return err({ code, reason });
}
