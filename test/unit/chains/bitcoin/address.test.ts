import { bech32, bech32m } from "@scure/base";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseBitcoinAddress } from "../../../../src/chains/bitcoin/address.ts";
import { encodeBase58check } from "../../../../src/chains/encodings/address-text.ts";
import { NETWORKS, type NetworkName } from "../../../../src/chains/registry/networks.ts";
import { BASE58, BECH32, mutationOf } from "../../../support/mutations.ts";
import { network } from "../../../support/named-network.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { encodeSegwit } from "../../../support/segwit-text.ts";
import vectors from "../../../vectors/bip173-bip350.json" with { type: "json" };

const HASH = new Uint8Array(20).fill(7);
/** The Taproot address for the x coordinate of the curve's generator, from BIP350's vectors. */
const TAPROOT = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0";
const legacy = (version: number, hash: Uint8Array = HASH) => encodeBase58check(Uint8Array.of(version, ...hash));
const segwit = (hrp: string, version: number, length: number) =>
  encodeSegwit({ hrp, version, program: new Uint8Array(length).fill(7) });
const reasonOf = (name: NetworkName, text: string) => {
  const parsed = parseBitcoinAddress(network(name), text);
  return parsed.ok ? `accepted as ${parsed.value}` : parsed.error.reason;
};

describe("an address of the network is accepted", () => {
  test.each([
    ["BTC", legacy(0x00)],
    ["BTC", legacy(0x05)],
    ["BTC", segwit("bc", 0, 20)],
    ["BTC", segwit("bc", 0, 32)],
    ["BTC", TAPROOT],
    ["BTC_TESTNET", legacy(0x6f)],
    ["BTC_TESTNET", legacy(0xc4)],
    ["BTC_TESTNET", segwit("tb", 0, 20)],
    ["BTC_REGTEST", legacy(0x6f)],
    ["BTC_REGTEST", segwit("bcrt", 0, 32)],
    ["LTC", legacy(0x30)],
    ["LTC", legacy(0x32)],
    ["LTC", segwit("ltc", 0, 20)],
    ["LTC_TESTNET", legacy(0x6f)],
    ["LTC_TESTNET", legacy(0x3a)],
    ["LTC_TESTNET", segwit("tltc", 0, 20)],
    ["LTC_REGTEST", segwit("rltc", 0, 20)],
    // The addresses of the genesis block and of BIP173's example.
    ["BTC", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"],
    ["BTC", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"],
  ] as const)("%s: %s", (name, address) => {
    expect(parseBitcoinAddress(network(name), address)).toEqual({ ok: true, value: address });
  });

  test("in upper case when it is bech32, and stored in lower case", () => {
    expect(parseBitcoinAddress(network("BTC"), TAPROOT.toUpperCase())).toEqual({ ok: true, value: TAPROOT });
  });

  test("with ASCII white space around it, but not with other space characters", () => {
    expect(parseBitcoinAddress(network("BTC"), ` \t${TAPROOT}\r\n`)).toEqual({ ok: true, value: TAPROOT });
    for (const space of ["\u00a0", "\u200b", "\ufeff", "\u3000", "\v", "\0"]) {
      expect(parseBitcoinAddress(network("BTC"), `${space}${TAPROOT}`).ok).toBe(false);
    }
    expect(parseBitcoinAddress(network("BTC"), TAPROOT.replace("bc1", "bc1 ")).ok).toBe(false);
  });
});

describe("a refusal says what the text looks like", () => {
  const v0 = segwit("bc", 0, 20);
  const words = (version: number, length: number) => [version, ...bech32.toWords(new Uint8Array(length).fill(7))];
  test.each([
    ["BTC", legacy(0x6f), /^this is a Bitcoin testnet address$/],
    ["BTC", legacy(0xc4), /^this is a Bitcoin testnet address$/],
    ["BTC", segwit("tb", 0, 20), /^this is a Bitcoin testnet address$/],
    ["BTC", segwit("bcrt", 0, 20), /regtest/],
    ["BTC", legacy(0x30), /^this is a Litecoin address$/],
    ["BTC", segwit("ltc", 0, 20), /^this is a Litecoin address$/],
    ["BTC", encodeBase58check(Uint8Array.of(0x41, ...HASH)), /^this is a TRON address$/],
    ["BTC", `0x${"ab".repeat(20)}`, /looks like an EVM address/],
    ["BTC", "satoshi.btc", /looks like a name/],
    ["BTC", `bitcoin:${v0}`, /payment link/],
    ["BTC", "lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqf", /Lightning/],
    ["BTC", "", /empty/],
    ["BTC", "hello world", /^not a valid Bitcoin address$/],
    ["BTC", v0.replace("q", "Q"), /mixes upper and lower case/],
    ["BTC", `${v0.slice(0, -1)}b`, /checksum fails/],
    ["BTC", bech32m.encode("bc", words(0, 20)), /must be encoded as bech32, not bech32m/],
    ["BTC", bech32.encode("bc", words(1, 32)), /must be encoded as bech32m, not bech32/],
    ["BTC", segwit("bc", 2, 32), /witness version 2 is not in use/],
    ["BTC", segwit("bc", 16, 32), /witness version 16 is not in use/],
    ["BTC", segwit("bc", 1, 20), /wrong length/],
    ["BTC", bech32.encode("bc", words(0, 21)), /wrong length/],
    ["BTC", "bc1pfeessrawgf", /pay-to-anchor/],
    ["BTC", encodeSegwit({ hrp: "bc", version: 1, program: new Uint8Array(32) }), /not on the curve/],
    ["BTC", encodeSegwit({ hrp: "bc", version: 1, program: new Uint8Array(32).fill(0xff) }), /not on the curve/],
    ["BTC_TESTNET", legacy(0x00), /^this is a Bitcoin address$/],
    ["BTC_TESTNET", v0, /^this is a Bitcoin address$/],
    ["BTC_TESTNET", segwit("bcrt", 0, 20), /regtest/],
    ["BTC_REGTEST", segwit("tb", 0, 20), /testnet/],
    ["LTC", `ltcmweb1${"q".repeat(118)}`, /Litecoin MWEB address/],
    ["LTC_TESTNET", `tmweb1${"q".repeat(118)}`, /MWEB/],
    ["LTC", segwit("tltc", 0, 20), /^this is a Litecoin testnet address$/],
    ["LTC", legacy(0x3a), /^this is a Litecoin testnet address$/],
    ["LTC", v0, /^this is a Bitcoin address$/],
    ["LTC", legacy(0x00), /^this is a Bitcoin address$/],
    ["BTC", legacy(0x32), /^this is a Litecoin address$/],
    ["BTC", "constructor1qqqqqq", /^not a valid Bitcoin address$/],
    ["BTC", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", /checksum fails/],
    ["BTC", "A".repeat(60_000), /^not a valid Bitcoin address$/],
  ] as const)("on %s: %s", (name, text, reason) => {
    expect(reasonOf(name, text)).toMatch(reason);
  });

  test("the refusal of Litecoin's old 3... form shows the M... form of the same script", () => {
    expect(reasonOf("LTC", legacy(0x05))).toContain(legacy(0x32));
    expect(reasonOf("LTC_TESTNET", legacy(0xc4))).toContain(legacy(0x3a));
    expect(reasonOf("LTC", legacy(0xc4))).toMatch(/testnet/);
  });
});

describe("any address", () => {
  const utxoNetworks = NETWORKS.filter((each) => each.utxo !== null);
  const hashes = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const addresses = fc.record({
    at: fc.constantFrom(...utxoNetworks),
    hash: hashes,
    form: fc.integer({ min: 0, max: 2 }),
  });
  const textOf = ({ at, hash, form }: { at: (typeof NETWORKS)[number]; hash: Uint8Array; form: number }) => {
    if (at.utxo === null) throw new Error("no prefixes");
    if (form === 2) return encodeSegwit({ hrp: at.utxo.hrp, version: 0, program: hash });
    return legacy(form === 0 ? at.utxo.p2pkh : at.utxo.p2sh, hash);
  };

  test("is accepted on its own network, and on another only if the two networks share its prefix", () => {
    fc.assert(
      fc.property(addresses, (address) => {
        const text = textOf(address);
        expect(parseBitcoinAddress(address.at, text)).toEqual({ ok: true, value: text });
        for (const other of utxoNetworks) {
          const shares = [other.utxo?.p2pkh, other.utxo?.p2sh, other.utxo?.hrp];
          const own = [address.at.utxo?.p2pkh, address.at.utxo?.p2sh, address.at.utxo?.hrp][address.form];
          expect(parseBitcoinAddress(other, text).ok).toBe(shares.includes(own));
        }
      }),
      { numRuns: RUNS / 5 },
    );
  });

  test("is refused when any one character is changed, and the refusal does not repeat it", () => {
    const mutated = addresses.chain((address) => {
      const text = textOf(address);
      const changed = address.form === 2 ? mutationOf(text, BECH32, text.indexOf("1") + 1) : mutationOf(text, BASE58);
      return changed.map((changedText) => ({ at: address.at, text: changedText }));
    });
    fc.assert(
      fc.property(mutated, ({ at, text }) => {
        const parsed = parseBitcoinAddress(at, text);
        expect(parsed.ok).toBe(false);
        if (!parsed.ok) expect(parsed.error.reason).not.toContain(text);
      }),
      { numRuns: RUNS },
    );
  });

  test("listed as invalid by BIP173 or BIP350 is refused on every network", () => {
    for (const [text = ""] of vectors.invalid) {
      for (const each of utxoNetworks) expect(parseBitcoinAddress(each, text).ok).toBe(false);
    }
  });
});
