// Interface 4.1, decisions 3 and chains.md 5: registering a direct wallet. Every refusal says what the text looks like, if that is known.
import { bech32, bech32m } from "@scure/base";
import { getAddress } from "viem";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { expectRefusal, registerWallet, removeWallets, shop, unique } from "./client.ts";
import {
  directWallet,
  evmAddress,
  extendedKey,
  freshDirectWallet,
  legacyAddress,
  segwitAddress,
  taprootAddress,
  tronAddress,
  xpubWallet,
} from "./key-material.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const CHECKSUMMED = getAddress(evmAddress());
/** The same address with the case of its first letter flipped: a wrong EIP-55 checksum. */
const MISCHECKSUMMED = CHECKSUMMED.replace(/(?<=^0x[0-9]*)[a-fA-F]/, (letter) =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
);
const BITCOIN_SEGWIT = segwitAddress("bc");
const TRON_ZERO = "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb";

describe("an address on the wallet's network is accepted", () => {
  test.each([
    ["BTC", "BTC", "P2PKH", legacyAddress(0x00)],
    ["BTC", "BTC", "P2SH", legacyAddress(0x05)],
    ["BTC", "BTC", "P2WPKH", BITCOIN_SEGWIT],
    ["BTC", "BTC", "P2WSH", segwitAddress("bc", 0, 32)],
    ["BTC", "BTC", "P2TR", taprootAddress("bc")],
    ["BTC", "BTC_TESTNET", "P2PKH", legacyAddress(0x6f)],
    ["BTC", "BTC_TESTNET", "P2SH", legacyAddress(0xc4)],
    ["BTC", "BTC_TESTNET", "P2WPKH", segwitAddress("tb")],
    ["LTC", "LTC", "P2PKH", legacyAddress(0x30)],
    ["LTC", "LTC", "P2SH", legacyAddress(0x32)],
    ["LTC", "LTC", "P2WPKH", segwitAddress("ltc")],
    ["LTC", "LTC_TESTNET", "P2SH", legacyAddress(0x3a)],
    ["LTC", "LTC_TESTNET", "P2WPKH", segwitAddress("tltc")],
    ["ETH", "ETH", "EIP-55", CHECKSUMMED],
    ["TRX", "TRX", "base58check", tronAddress()],
  ])("%s on %s, %s", async (cryptocurrency, network, _, address) => {
    expect((await registerWallet(shop, directWallet(cryptocurrency, network, address))).address).toBe(address);
  });

  test("and is stored in one spelling: EIP-55 for EVM, lower case for bech32, without surrounding space", async () => {
    const body = (address: string) => directWallet("ETH", "ETH", address);
    const spellings = [CHECKSUMMED.toLowerCase(), `0x${CHECKSUMMED.slice(2).toUpperCase()}`, ` ${CHECKSUMMED} `];
    for (const spelling of spellings) {
      expect((await registerWallet(shop, body(spelling))).address).toBe(CHECKSUMMED);
      await removeWallets(shop);
    }
    const shouted = directWallet("BTC", "BTC", BITCOIN_SEGWIT.toUpperCase());
    expect((await registerWallet(shop, shouted)).address).toBe(BITCOIN_SEGWIT);
  });
});

describe("a string that is not an address on the wallet's network is refused", () => {
  const mixedCase = BITCOIN_SEGWIT.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase());
  const mistyped = BITCOIN_SEGWIT.slice(0, -1) + (BITCOIN_SEGWIT.endsWith("q") ? "p" : "q");
  const tron = tronAddress();
  interface Wrong {
    readonly cryptocurrency: string;
    readonly network: string;
    readonly what: string;
    readonly address: string;
    readonly hint?: RegExp;
  }
  const rows: readonly (readonly [string, string, string, string, RegExp?])[] = [
    ["BTC", "BTC", "a testnet address", segwitAddress("tb"), /testnet/i],
    ["BTC", "BTC", "a legacy testnet address", legacyAddress(0x6f), /testnet/i],
    ["BTC", "BTC", "a regtest address", segwitAddress("bcrt")],
    ["BTC", "BTC", "a Litecoin address", segwitAddress("ltc"), /litecoin/i],
    ["BTC", "BTC", "an Ethereum address", evmAddress()],
    ["BTC", "BTC", "mixed case", mixedCase],
    ["BTC", "BTC", "a mistyped character", mistyped],
    ["BTC", "BTC", "version 0 under bech32m", segwitAddress("bc", 0, 20, bech32m)],
    ["BTC", "BTC", "version 1 under bech32", segwitAddress("bc", 1, 32, bech32)],
    ["BTC", "BTC", "version 2", segwitAddress("bc", 2, 32)],
    ["BTC", "BTC", "a program of 21 bytes", segwitAddress("bc", 0, 21)],
    ["BTC", "BTC", "a taproot key off the curve", bech32m.encode("bc", [1, ...bech32m.toWords(new Uint8Array(32))])],
    ["BTC", "BTC_TESTNET", "a mainnet address", BITCOIN_SEGWIT, /mainnet|main network|bitcoin address/i],
    ["BTC", "BTC_TESTNET", "a legacy mainnet address", legacyAddress(0x00)],
    ["LTC", "LTC", "a 3... address, which could also be Bitcoin's", legacyAddress(0x05)],
    ["LTC", "LTC", "an MWEB address", `ltcmweb1${"q".repeat(118)}`, /mweb/i],
    ["LTC", "LTC", "a testnet address", segwitAddress("tltc"), /testnet/i],
    ["LTC", "LTC_TESTNET", "a mainnet address", segwitAddress("ltc")],
    ["ETH", "ETH", "a wrong EIP-55 checksum", MISCHECKSUMMED, /EIP-55/],
    ["ETH", "ETH", "an upper-case 0X", evmAddress().replace("0x", "0X")],
    ["ETH", "ETH", "no 0x", evmAddress().slice(2)],
    ["ETH", "ETH", "39 digits", evmAddress().slice(0, -1)],
    ["ETH", "ETH", "41 digits", `${evmAddress()}0`],
    ["ETH", "ETH", "a letter that is not a hexadecimal digit", `${evmAddress().slice(0, -1)}g`],
    ["ETH", "ETH", "the zero address", `0x${"0".repeat(40)}`],
    ["ETH", "ETH", "a precompile", `0x${"0".repeat(39)}1`],
    ["ETH", "ETH", "a burn address", `0x${"0".repeat(36)}dEaD`],
    ["ETH", "ETH", "a name", "merchant.eth"],
    ["USDT", "ETH", "the token's own contract", "0xdAC17F958D2ee523a2206206994597C13D831ec7"],
    ["USDT", "ETH", "a TRON address", tronAddress()],
    ["USDT", "BNB", "a wrong EIP-55 checksum", MISCHECKSUMMED, /EIP-55/],
    ["TRX", "TRX", "the zero address", TRON_ZERO],
    ["TRX", "TRX", "the hexadecimal form", `41${evmAddress().slice(2)}`],
    ["TRX", "TRX", "an Ethereum address", evmAddress()],
    ["TRX", "TRX", "the prefix of the old test network", tronAddress(0xa0)],
    ["TRX", "TRX", "a mistyped character", tron.slice(0, -1) + (tron.endsWith("a") ? "b" : "a")],
    ["USDT", "TRX", "the token's own contract", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"],
    ["BTC", "BTC", "no-break space before it", `\u00A0${BITCOIN_SEGWIT}`],
    ["BTC", "BTC", "an address link", `bitcoin:${BITCOIN_SEGWIT}`],
    ["BTC", "BTC", "nothing", ""],
    ["ETH", "ETH", "a text of 10,000 characters", "0x".repeat(5_000)],
  ];

  const cases: Wrong[] = rows.map(([cryptocurrency, network, what, address, hint]) => ({
    cryptocurrency,
    network,
    what,
    address,
    ...(hint === undefined ? {} : { hint }),
  }));

  test.each(cases)("$cryptocurrency on $network: $what", async ({ cryptocurrency, network, address, hint }) => {
    const answer = await shop.post("/wallets", directWallet(cryptocurrency, network, address));
    const isJudged = address.length > 0 && address.length < 1_000;
    const refusal = expectRefusal(answer, 400, isJudged ? "INVALID_ADDRESS" : undefined);
    if (hint !== undefined) expect(refusal.message).toMatch(hint);
  });
});

describe("the body of a registration", () => {
  const whole = () => freshDirectWallet("ETH", "ETH");
  const without = (field: string) => Object.fromEntries(Object.entries(whole()).filter(([name]) => name !== field));

  test.each(["walletType", "cryptocurrency", "network", "address"])("needs %s", async (field) => {
    expectRefusal(await shop.post("/wallets", without(field)), 400);
  });

  test.each(["xpub", "derivationPath"])("for an extended key needs %s", async (field) => {
    const body = Object.entries(xpubWallet(extendedKey())).filter(([name]) => name !== field);
    expectRefusal(await shop.post("/wallets", Object.fromEntries(body)), 400);
  });

  test.each([
    { walletType: "HOT_WALLET" },
    { walletType: 1 },
    { cryptocurrency: 1 },
    { network: null },
    { address: ["0x"] },
    { isEnabled: "yes" },
    { label: "unknown" },
    { lastUsedIndex: 5 },
    { scheme: "BIP84" },
  ])("is refused with %j", async (wrong) => {
    expectRefusal(await shop.post("/wallets", { ...whole(), ...wrong }), 400);
  });

  test("may not give an extended key to a direct wallet, nor an address to an extended key wallet", async () => {
    const { xpub, derivationPath } = extendedKey();
    expectRefusal(await shop.post("/wallets", { ...whole(), xpub, derivationPath }), 400);
    const both = { ...xpubWallet(extendedKey()), address: segwitAddress("bc") };
    expectRefusal(await shop.post("/wallets", both), 400);
  });

  test("may have null in the fields of the other kind of wallet, and in optional fields", async () => {
    const nulls = { xpub: null, derivationPath: null, requiredConfirmations: null, isEnabled: null };
    expect(await registerWallet(shop, { ...whole(), ...nulls })).toMatchObject({ requiredConfirmations: 1 });
  });

  test.each([1, 1_000])("may require %i confirmations", async (requiredConfirmations) => {
    const wallet = await registerWallet(shop, { ...whole(), requiredConfirmations });
    expect(wallet.requiredConfirmations).toBe(requiredConfirmations);
  });

  test.each([0, -1, 1_001, 1.5, "3"])("may not require %j confirmations", async (requiredConfirmations) => {
    expectRefusal(await shop.post("/wallets", { ...whole(), requiredConfirmations }), 400);
  });

  test("repeated with its idempotency key returns the first response, not a conflict", async () => {
    const body = xpubWallet(extendedKey());
    const headers = { "idempotency-key": unique() };
    const first = await shop.post("/wallets", body, headers);
    const second = await shop.post("/wallets", body, headers);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });
});
