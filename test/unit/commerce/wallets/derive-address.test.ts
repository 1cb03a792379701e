import { hexToBytes } from "@noble/hashes/utils.js";
import { HDKey } from "@scure/bip32";
import { NETWORK, p2pkh, p2sh, p2wpkh, TEST_NETWORK } from "@scure/btc-signer";
import { BIP32Factory } from "bip32";
import fc from "fast-check";
import * as tinySecp256k1 from "tiny-secp256k1";
import { describe, expect, test } from "vitest";
import { decodeBase58check, encodeBase58check } from "../../../../src/chains/encodings/address-text.ts";
import { NETWORKS, type Network, type NetworkName } from "../../../../src/chains/registry/networks.ts";
import { addressAt, receiveChain } from "../../../../src/commerce/wallets/derive-address.ts";
import { type ExtendedKey, parseExtendedKey, type Scheme } from "../../../../src/commerce/wallets/extended-key.ts";
import { network } from "../../../support/named-network.ts";
import { RUNS } from "../../../support/property-runs.ts";
import accountKeys from "../../../vectors/account-keys.json" with { type: "json" };
import bip32Vectors from "../../../vectors/bip32.json" with { type: "json" };

const tiny = BIP32Factory(tinySecp256k1);
const SEED = hexToBytes(accountKeys.seed.hex);
const SCHEMES = { BIP44: 44, BIP49: 49, BIP84: 84 } as const;
const MAIN_VERSIONS = { BIP44: 0x0488b21e, BIP49: 0x049d7cb2, BIP84: 0x04b24746 } as const;
const TEST_VERSIONS = { BIP44: 0x043587cf, BIP49: 0x044a5262, BIP84: 0x045f1cf6 } as const;
const UTXO = NETWORKS.filter((each) => each.utxo !== null);
const LAST_INDEX = 0x7fffffff;

/** The key of an account, derived from a seed by @scure/bip32, with SLIP-132 version bytes. */
function accountOf(seed: Uint8Array, scheme: Scheme, at: Network, account: number) {
  const derivationPath = `m/${SCHEMES[scheme]}'/${at.coinType}'/${account}'`;
  const node = HDKey.fromMasterSeed(seed).derive(derivationPath);
  const payload = Uint8Array.from(decodeBase58check(node.publicExtendedKey) ?? []);
  new DataView(payload.buffer).setUint32(0, (at.isTest ? TEST_VERSIONS : MAIN_VERSIONS)[scheme]);
  const parsed = parseExtendedKey({ network: at, xpub: encodeBase58check(payload), derivationPath });
  if (!parsed.ok) throw new Error(parsed.error.reason);
  return { node, key: parsed.value };
}

/** The address as encoded by @scure/btc-signer. */
function encodedByLibrary(publicKey: Uint8Array, scheme: Scheme, at: Network): string | undefined {
  const { p2pkh: pubKeyHash = 0, p2sh: scriptHash = 0, hrp: bech32 = "" } = at.utxo ?? {};
  const prefixes = { ...(at.isTest ? TEST_NETWORK : NETWORK), pubKeyHash, scriptHash, bech32 };
  switch (scheme) {
    case "BIP44":
      return p2pkh(publicKey, prefixes).address;
    case "BIP49":
      return p2sh(p2wpkh(publicKey, prefixes), prefixes).address;
    case "BIP84":
      return p2wpkh(publicKey, prefixes).address;
  }
}

describe("the addresses of the official vectors", () => {
  test.each(accountKeys.accounts)("are $addresses for $derivationPath on $network", (account) => {
    const at = network(account.network as NetworkName);
    const parsed = parseExtendedKey({ ...account, network: at });
    if (!parsed.ok) throw new Error(parsed.error.reason);
    const chain = receiveChain(parsed.value, at);
    expect(account.addresses.map((_, index) => addressAt(chain, index))).toEqual(account.addresses);
  });

  test("follow from the key and chain code that BIP32's second vector publishes for m/0", () => {
    const [, master = ""] = bip32Vectors.pairs[6] ?? [];
    const [, child = ""] = bip32Vectors.pairs[7] ?? [];
    const payload = decodeBase58check(master) ?? new Uint8Array();
    const key = {
      ...accountOf(SEED, "BIP44", network("BTC"), 0).key,
      chainCode: payload.slice(13, 45),
      publicKey: payload.slice(45),
    };
    const { node } = receiveChain(key, network("BTC"));
    const expected = decodeBase58check(child) ?? new Uint8Array();
    expect(node.publicKey).toEqual(expected.slice(45));
    const signed = HDKey.fromExtendedKey(child).deriveChild(5);
    const ours = addressAt(receiveChain(key, network("BTC")), 5);
    expect(ours).toBe(encodedByLibrary(signed.publicKey ?? new Uint8Array(), "BIP44", network("BTC")));
  });

  test("include the first Litecoin address that other wallets show for the BIP39 test phrase", () => {
    const { key } = accountOf(SEED, "BIP84", network("LTC"), 0);
    expect(addressAt(receiveChain(key, network("LTC")), 0)).toBe("ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh");
  });
});

describe("a derived address", () => {
  const choices = fc.record({
    seed: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    scheme: fc.constantFrom<Scheme>("BIP44", "BIP49", "BIP84"),
    at: fc.constantFrom(...UTXO),
    account: fc.integer({ min: 0, max: LAST_INDEX }),
    indexes: fc.array(fc.integer({ min: 0, max: LAST_INDEX }), { minLength: 10, maxLength: 10 }),
  });

  test("equals the address that @scure/bip32 and @scure/btc-signer derive", () => {
    fc.assert(
      fc.property(choices, ({ seed, scheme, at, account, indexes }) => {
        const { node, key } = accountOf(seed, scheme, at, account);
        const external = node.deriveChild(0);
        const chain = receiveChain(key, at);
        for (const index of indexes) {
          const publicKey = external.deriveChild(index).publicKey ?? new Uint8Array();
          expect(addressAt(chain, index)).toBe(encodedByLibrary(publicKey, scheme, at));
        }
      }),
      // Each run derives ten addresses, with a new seed, account and network.
      { numRuns: RUNS / 10 },
    );
  }, 14_400_000);

  test("equals the address that bip32 with tiny-secp256k1 derives, for indexes 0 to 199 and the last index", () => {
    const { key } = accountOf(SEED, "BIP84", network("BTC"), 0);
    const chain = receiveChain(key, network("BTC"));
    const external = tiny.fromSeed(SEED).derivePath("m/84'/0'/0'").neutered().derive(0);
    for (const index of [...Array(200).keys(), LAST_INDEX]) {
      const { publicKey } = external.derive(index);
      expect(addressAt(chain, index)).toBe(encodedByLibrary(publicKey, "BIP84", network("BTC")));
    }
  });

  test("is always the same for the same index, and different for every other index", () => {
    const { key } = accountOf(SEED, "BIP84", network("BTC"), 0);
    const [one, two] = [receiveChain(key, network("BTC")), receiveChain(key, network("BTC"))];
    const forwards = Array.from({ length: 50 }, (_, index) => addressAt(one, index));
    const backwards = Array.from({ length: 50 }, (_, index) => addressAt(two, 49 - index)).reverse();
    expect(forwards).toEqual(backwards);
    expect(new Set(forwards).size).toBe(50);
  });

  test.each([-1, 0.5, Number.NaN, 0x80000000, Number.POSITIVE_INFINITY])("does not exist for index %d", (index) => {
    const { key } = accountOf(SEED, "BIP84", network("BTC"), 0);
    expect(() => addressAt(receiveChain(key, network("BTC")), index)).toThrow(/no public child/);
  });

  test("does not exist on a network without address derivation", () => {
    const key: ExtendedKey = accountOf(SEED, "BIP84", network("BTC"), 0).key;
    expect(() => receiveChain(key, network("ETH"))).toThrow(/no address derivation/);
  });
});
