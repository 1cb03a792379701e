// Converts BTCPay Server's notation for a key to Edgetill's. BTCPay writes every account as an xpub (tpub on test networks) and appends the kind of
// address: nothing for native SegWit, -[p2sh] for nested SegWit, -[legacy] for P2PKH. Edgetill's prefixes include the kind.
import { decodeBase58check, encodeBase58check } from "../../src/chains/encodings/address-text.ts";
import { NETWORKS, type Network } from "../../src/chains/registry/networks.ts";
import { looksLikeSecret } from "../../src/chains/secrets/secret-material.ts";
import { addressAt, receiveChain } from "../../src/commerce/wallets/derive-address.ts";
import { parseExtendedKey, type Scheme } from "../../src/commerce/wallets/extended-key.ts";
import { bytesToHex, hexToBytes } from "../../src/lib/bytes.ts";
import { err, ok, type Result } from "../../src/lib/result.ts";

/** An account's key in Edgetill's notation. */
export interface Account {
  readonly network: Network;
  readonly xpub: string;
  /** `m/84'/0'/0'` */
  readonly derivationPath: string;
  /** A hash that is equal for all spellings of one key. */
  readonly keyHash: string;
  /** The first receiving addresses. */
  readonly addresses: readonly string[];
}

/** How many addresses are compared. */
export const COMPARED = 3;

/** The prefixes of BTCPay's keys: xpub, tpub, and Litecoin's own prefixes, which some software uses. The addresses are compared for every prefix. */
const BTCPAY_VERSIONS: Readonly<Record<string, { readonly isTest: boolean }>> = {
  "0488b21e": { isTest: false },
  "043587cf": { isTest: true },
  "019da462": { isTest: false },
  "0436f6e1": { isTest: true },
};
/** SLIP-132 prefixes, for the main network and test networks. */
const VERSIONS: Readonly<Record<Scheme, readonly [main: string, test: string]>> = {
  BIP44: ["0488b21e", "043587cf"],
  BIP49: ["049d7cb2", "044a5262"],
  BIP84: ["04b24746", "045f1cf6"],
};
const TEST_VERSIONS = [...Object.values(VERSIONS).map(([, test]) => test), "0436f6e1"];
const PURPOSES: Readonly<Record<string, number>> = {
  "0488b21e": 44,
  "043587cf": 44,
  "019da462": 44,
  "0436f6e1": 44,
  "049d7cb2": 49,
  "044a5262": 49,
  "01b26ef6": 49,
  "04b24746": 84,
  "045f1cf6": 84,
};
const SUFFIXES: Readonly<Record<string, Scheme>> = { "": "BIP84", "-[p2sh]": "BIP49", "-[legacy]": "BIP44" };
const HARDENED = 0x8000_0000;

/** The data that BTCPay has about an account. */
interface BtcpayKey {
  /** `BTC` or `LTC` */
  readonly code: string;
  readonly scheme: string;
  /** `m/84'/0'/0'`, `84'/0'/0'` or `abcd82a1/84'/0'/0'`; undefined if BTCPay does not have it. */
  readonly accountKeyPath: string | undefined;
  /** The first addresses, from index 0, as BTCPay derives them. */
  readonly previewed: readonly string[];
}

/** The account in Edgetill's notation, checked against BTCPay's own addresses. The reason of a refusal never shows a key. */
export function accountOfBtcpay(of: BtcpayKey): Result<Account, string> {
  const spelled = spelledForEdgetill(of.scheme);
  if (!spelled.ok) return spelled;
  const read = networksOf(of.code, spelled.value).map((network) => accountOf(network, spelled.value));
  const [first] = read;
  if (first === undefined) return err(`Edgetill has no network of ${of.code} for such a key`);
  if (!first.ok) return first;
  if (of.previewed.length === 0)
    return err("BTCPay does not show its addresses to this API key, so nothing can be compared");
  const same = read.flatMap((each) => (each.ok && isSame(each.value.addresses, of.previewed) ? [each.value] : []))[0];
  if (same === undefined)
    return err("Edgetill derives other addresses from its key than BTCPay shows, so it is not moved");
  const path = pathOf(of.accountKeyPath);
  if (path !== undefined && path !== same.derivationPath)
    return err(`BTCPay has its key at ${path}, and Edgetill takes such a key at ${same.derivationPath} only`);
  return ok(same);
}

/** The account of a key that the operator gives for a coin. `near`: the intended network, if several networks have keys with this prefix. */
export function accountOfKey(code: string, xpub: string, near: Network | undefined): Result<Account, string> {
  const networks = networksOf(code, xpub);
  const network = networks.find(({ name }) => name === near?.name) ?? networks[0];
  return network === undefined ? err(`not an extended public key of ${code}`) : accountOf(network, xpub);
}

/** The account of a key on a network; its path follows from the key's prefix, the coin and the key's own account number. */
export function accountOf(network: Network, xpub: string, given?: string): Result<Account, string> {
  const derivationPath = given ?? pathFor(network, xpub);
  const key = parseExtendedKey({ network, xpub, derivationPath });
  if (!key.ok) return err(key.error.reason);
  const chain = receiveChain(key.value, network);
  const addresses = Array.from({ length: COMPARED }, (_, index) => addressAt(chain, index));
  const { keyHash } = key.value;
  return ok({ network, xpub: key.value.xpub, derivationPath: key.value.derivationPath, keyHash, addresses });
}

function spelledForEdgetill(scheme: string): Result<string, string> {
  const [, key = "", suffix = ""] = /^([1-9A-HJ-NP-Za-km-z]+)((?:-\[[^\]]*\])*)$/.exec(scheme) ?? [];
  if (/^\d+-of-/.test(scheme)) return err("it needs several signatures, and Edgetill holds single-key accounts only");
  if (key === "") return err("it is a policy or a descriptor, and Edgetill holds single-key accounts only");
  if (looksLikeSecret(key)) return err("it is a private key");
  const kind = SUFFIXES[suffix];
  if (kind === undefined) return err(`Edgetill has no addresses of the kind ${suffix.slice(1, 20)}`);
  const payload = decodeBase58check(key);
  const version = payload?.length === 78 ? BTCPAY_VERSIONS[bytesToHex(payload.subarray(0, 4))] : undefined;
  if (payload === undefined || version === undefined) return err("its key is neither an xpub nor a tpub");
  const [main, test] = VERSIONS[kind];
  return ok(encodeBase58check(Uint8Array.from([...hexToBytes(version.isTest ? test : main), ...payload.subarray(4)])));
}

/** Networks of the coin on which the key's prefix is used; several for test networks. */
function networksOf(code: string, xpub: string): readonly Network[] {
  const prefix = prefixOf(xpub);
  const isTest = TEST_VERSIONS.includes(prefix);
  return NETWORKS.filter((each) => each.utxo !== null && each.nativeCode === code && each.isTest === isTest);
}

function prefixOf(xpub: string): string {
  return bytesToHex((decodeBase58check(xpub) ?? new Uint8Array(4)).subarray(0, 4));
}

/** The path of an account's key. For any other key the path does not matter, because the key is refused. */
function pathFor(network: Network, xpub: string): string {
  const payload = decodeBase58check(xpub) ?? new Uint8Array(78);
  const child = payload.length < 13 ? 0 : new DataView(payload.buffer, payload.byteOffset).getUint32(9);
  return `m/${PURPOSES[prefixOf(xpub)] ?? 84}'/${network.coinType}'/${child >= HARDENED ? child - HARDENED : 0}'`;
}

function isSame(derived: readonly string[], previewed: readonly string[]): boolean {
  return previewed.slice(0, COMPARED).every((address, index) => address === derived[index]);
}

/** The path without the fingerprint, with apostrophes. */
function pathOf(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  return `m/${text.replace(/^(m|[0-9a-fA-F]{8})\//, "").replaceAll(/[hH]/g, "'")}`;
}
