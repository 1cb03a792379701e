// New keys and addresses for every test, and the expected addresses of an extended key. Derivation uses bip32 with tiny-secp256k1, and encodings use
// @scure/base, none of which the server uses.
import { createHash, randomBytes } from "node:crypto";
import { bech32, bech32m, createBase58check } from "@scure/base";
import { BIP32Factory, type BIP32Interface } from "bip32";
import * as ecc from "tiny-secp256k1";

const bip32 = BIP32Factory(ecc);
const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();
const hash160 = (bytes: Uint8Array): Uint8Array => createHash("ripemd160").update(sha256(bytes)).digest();
export const base58check = createBase58check(sha256);

export type Scheme = "BIP44" | "BIP49" | "BIP84";
export type UtxoNetwork = "BTC" | "LTC" | "BTC_TESTNET" | "LTC_TESTNET";

/** Version bytes of the public and the private form of an extended key, by scheme (BIP32, SLIP-132). */
const VERSIONS: Readonly<Record<"main" | "test", Readonly<Record<Scheme, readonly [number, number]>>>> = {
  main: { BIP44: [0x0488b21e, 0x0488ade4], BIP49: [0x049d7cb2, 0x049d7878], BIP84: [0x04b24746, 0x04b2430c] },
  test: { BIP44: [0x043587cf, 0x04358394], BIP49: [0x044a5262, 0x044a4e28], BIP84: [0x045f1cf6, 0x045f18bc] },
};

/** Address prefixes (chains.md 5): P2PKH, P2SH, bech32. */
const PREFIXES: Readonly<Record<UtxoNetwork, readonly [number, number, string]>> = {
  BTC: [0x00, 0x05, "bc"],
  LTC: [0x30, 0x32, "ltc"],
  BTC_TESTNET: [0x6f, 0xc4, "tb"],
  LTC_TESTNET: [0x6f, 0x3a, "tltc"],
};

/** SLIP-44: 0 for Bitcoin, 2 for Litecoin, 1 for every test network. */
const COIN_TYPES: Readonly<Record<UtxoNetwork, number>> = { BTC: 0, LTC: 2, BTC_TESTNET: 1, LTC_TESTNET: 1 };
const PURPOSES: Readonly<Record<Scheme, number>> = { BIP44: 44, BIP49: 49, BIP84: 84 };

interface ExtendedKey {
  readonly xpub: string;
  readonly derivationPath: string;
  /** The private form of the same account, which is a secret that the service must refuse. */
  readonly xprv: string;
  /** The address at `<account>/0/<index>`. */
  address(index: number): string;
}

export interface KeyChoice {
  readonly scheme?: Scheme;
  readonly network?: UtxoNetwork;
  readonly account?: number;
  readonly seed?: Uint8Array;
}

/** A fresh account key, or the key from a given seed. */
export function extendedKey(choice: KeyChoice = {}): ExtendedKey {
  const { scheme = "BIP84", network = "BTC", account = 0, seed = randomBytes(64) } = choice;
  const derivationPath = `m/${PURPOSES[scheme]}'/${COIN_TYPES[network]}'/${account}'`;
  const [publicVersion, privateVersion] = VERSIONS[network.endsWith("_TESTNET") ? "test" : "main"][scheme];
  const node = bip32.fromSeed(seed, versionsOf(publicVersion, privateVersion)).derivePath(derivationPath);
  const external = node.neutered().derive(0);
  return {
    xpub: node.neutered().toBase58(),
    derivationPath,
    xprv: node.toBase58(),
    address: (index) => addressOf(external.derive(index), scheme, network),
  };
}

function versionsOf(publicVersion: number, privateVersion: number) {
  return {
    messagePrefix: "",
    bech32: "",
    pubKeyHash: 0,
    scriptHash: 5,
    wif: 0x80,
    bip32: { public: publicVersion, private: privateVersion },
  };
}

function addressOf(node: BIP32Interface, scheme: Scheme, network: UtxoNetwork): string {
  const [p2pkh, p2sh, prefix] = PREFIXES[network];
  const keyHash = hash160(node.publicKey);
  switch (scheme) {
    case "BIP44":
      return base58check.encode(Uint8Array.of(p2pkh, ...keyHash));
    case "BIP49":
      return base58check.encode(Uint8Array.of(p2sh, ...hash160(Uint8Array.of(0x00, 0x14, ...keyHash))));
    case "BIP84":
      return bech32.encode(prefix, [0, ...bech32.toWords(keyHash)]);
  }
}

/** The extended key with some of its 78 payload bytes changed and its checksum computed again. */
export function withBytes(extended: string, change: (payload: Uint8Array) => void): string {
  const payload = Uint8Array.from(base58check.decode(extended));
  change(payload);
  return base58check.encode(payload);
}

/** The request body for a fresh (or given) extended key. */
export function xpubWallet(key: ExtendedKey, network: UtxoNetwork = "BTC"): Record<string, unknown> {
  const cryptocurrency = network.slice(0, 3);
  const { xpub, derivationPath } = key;
  return { walletType: "XPUB_WALLET", cryptocurrency, network, xpub, derivationPath };
}

export function directWallet(cryptocurrency: string, network: string, address: string): Record<string, unknown> {
  return { walletType: "DIRECT_WALLET", cryptocurrency, network, address };
}

/** 40 lower-case hexadecimal digits: accepted without an EIP-55 checksum. */
export function evmAddress(): string {
  return `0x${randomBytes(20).toString("hex")}`;
}

export function tronAddress(prefix = 0x41): string {
  return base58check.encode(Uint8Array.of(prefix, ...randomBytes(20)));
}

export function legacyAddress(version: number): string {
  return base58check.encode(Uint8Array.of(version, ...randomBytes(20)));
}

export function segwitAddress(
  prefix: string,
  version = 0,
  length = 20,
  codec = version === 0 ? bech32 : bech32m,
): string {
  return codec.encode(prefix, [version, ...codec.toWords(randomBytes(length))], 120);
}

/** A Taproot address: an x-only key that is on the curve, because the server checks that. */
export function taprootAddress(prefix: string): string {
  const node = bip32.fromSeed(randomBytes(32));
  return bech32m.encode(prefix, [1, ...bech32m.toWords(node.publicKey.slice(1, 33))]);
}

/** A body for a new direct wallet of a pair, by the family of its network. */
export function freshDirectWallet(cryptocurrency: string, network: string): Record<string, unknown> {
  if (network.startsWith("TRX") || network === "TRON") return directWallet(cryptocurrency, network, tronAddress());
  const prefixes: Readonly<Record<string, string>> = { BTC: "bc", LTC: "ltc", BTC_TESTNET: "tb", LTC_TESTNET: "tltc" };
  const prefix = prefixes[network];
  return directWallet(cryptocurrency, network, prefix === undefined ? evmAddress() : segwitAddress(prefix));
}

/** Private keys in wallet import format (WIF), uncompressed and compressed. */
export function wif(version = 0x80, isCompressed = true): string {
  return base58check.encode(Uint8Array.of(version, ...randomBytes(32), ...(isCompressed ? [1] : [])));
}
