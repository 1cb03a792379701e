// Request bodies that register a wallet, with new keys and addresses, so that tests share none.
import { HDKey } from "@scure/bip32";
import { decodeBase58check, encodeBase58check } from "../../src/chains/encodings/address-text.ts";

const PATH = "m/84'/0'/0'";
const ZPUB_VERSION = 0x04b24746;

export const BTC = { cryptocurrency: "BTC", network: "BTC" };
export const LTC = { cryptocurrency: "LTC", network: "LTC" };
export const USDT = { cryptocurrency: "USDT", network: "ETH" };

const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

export function randomHex(bytes: number): string {
  return [...randomBytes(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A BTC wallet with one address per invoice. */
export function xpubWallet() {
  return accountWallet(BTC, PATH);
}

/** An LTC wallet with one address per invoice. */
export function litecoinWallet() {
  return accountWallet(LTC, "m/84'/2'/0'");
}

function accountWallet(pair: typeof BTC, derivationPath: string) {
  return { walletType: "XPUB_WALLET", ...pair, xpub: accountKey(derivationPath), derivationPath };
}

/** A zpub of a new account. */
export function accountKey(derivationPath: string): string {
  const { publicExtendedKey } = HDKey.fromMasterSeed(randomBytes(32)).derive(derivationPath);
  const payload = Uint8Array.from(decodeBase58check(publicExtendedKey) ?? []);
  new DataView(payload.buffer).setUint32(0, ZPUB_VERSION);
  return encodeBase58check(payload);
}

/** A USDT wallet on Ethereum with one address for all invoices. */
export function directWallet() {
  return { walletType: "DIRECT_WALLET", ...USDT, address: `0x${randomHex(20)}` };
}

/** An extended private key, which must never be accepted, stored or shown. */
export function extendedPrivateKey(): string {
  return HDKey.fromMasterSeed(randomBytes(32)).derive(PATH).privateExtendedKey;
}

/** A compressed Bitcoin private key in wallet import format (WIF). */
export function wif(): string {
  return encodeBase58check(Uint8Array.of(0x80, ...randomBytes(32), 0x01));
}
