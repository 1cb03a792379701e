import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAddress } from "../../../src/chains/address.ts";
import { decodeBase58check, encodeBase58check } from "../../../src/chains/address-text.ts";
import { NETWORKS } from "../../../src/chains/networks.ts";
import { bytesToHex } from "../../../src/lib/bytes.ts";
import { containsSecret, FREE_TEXT, looksLikeSecret, WALLET_FIELDS } from "../../../src/wallets/secret-material.ts";
import { RUNS } from "../../support/property-runs.ts";
import accountKeys from "../../vectors/account-keys.json" with { type: "json" };
import bip32 from "../../vectors/bip32.json" with { type: "json" };

const ACCOUNT = accountKeys.accounts[2] ?? { xpub: "", xprv: "" };
const { xpub: ZPUB, xprv: ZPRV } = ACCOUNT;
/** From BIP84's vectors. */
const WIF = "KyZpNDKnfs94vbrwhJneDi77V6jF64PWPF8x5cdJb8ifgg2DUc9d";
const PHRASE = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const KEY = new Uint8Array(32).fill(7);

function withVersion(extended: string, version: number): string {
  const payload = Uint8Array.from(decodeBase58check(extended) ?? []);
  new DataView(payload.buffer).setUint32(0, version);
  return encodeBase58check(payload);
}

/** Secrets in any text, whatever stands around them. */
const UNMISTAKABLE: readonly (readonly [string, string])[] = [
  ...bip32.pairs.map(([path = "", , xprv = ""]) => [`BIP32's xprv of ${path}`, xprv] as const),
  ...accountKeys.accounts.map(({ derivationPath, xprv }) => [`the private key of ${derivationPath}`, xprv] as const),
  ["an Ltpv", withVersion(ZPRV, 0x019d9cfe)],
  ["an Mtpv", withVersion(ZPRV, 0x01b26792)],
  ["a ttpv", withVersion(ZPRV, 0x0436ef7d)],
  ["a Yprv", withVersion(ZPRV, 0x0295b005)],
  ["a Zprv", withVersion(ZPRV, 0x02aa7a99)],
  ["a Uprv", withVersion(ZPRV, 0x024285b5)],
  ["a Vprv", withVersion(ZPRV, 0x02575048)],
  ["private bytes under xpub", withVersion(ZPRV, 0x0488b21e)],
  ["private bytes under zpub", withVersion(ZPRV, 0x04b24746)],
  ["private bytes under an unknown prefix", withVersion(ZPRV, 0x01020304)],
  ["an xprv cut to 60 characters", ZPRV.slice(0, 60)],
  ["a compressed WIF", WIF],
  ["an uncompressed WIF", encodeBase58check(Uint8Array.of(0x80, ...KEY))],
  ["a testnet WIF", encodeBase58check(Uint8Array.of(0xef, ...KEY, 1))],
  ["an uncompressed testnet WIF", encodeBase58check(Uint8Array.of(0xef, ...KEY))],
  ["a Litecoin WIF", encodeBase58check(Uint8Array.of(0xb0, ...KEY, 1))],
  ["a descriptor with a private key", `wpkh([d34db33f/84h/0h/0h]${ZPRV}/0/*)#qpzry9x8`],
];

/** Secrets in the fields of a wallet, where nothing else has these shapes. */
const BY_SHAPE: readonly (readonly [string, string])[] = [
  ["the start of an xprv", "xprv9s2"],
  ["an xprv in the wrong case", ZPRV.toUpperCase()],
  ["the start of an Ltpv", "Ltpv71Q8zJg"],
  ["a WIF with a wrong character", `${WIF.slice(0, -1)}e`],
  ["64 hexadecimal digits", bytesToHex(KEY)],
  ["64 hexadecimal digits after 0x", `0x${bytesToHex(KEY)}`],
  ["64 upper-case hexadecimal digits", bytesToHex(KEY.map(() => 0xab)).toUpperCase()],
  ["a seed of 128 digits", accountKeys.seed.hex],
  ["twelve words", PHRASE],
  ["twelve words in upper case", PHRASE.toUpperCase()],
  ["twelve words on lines of their own", PHRASE.replaceAll(" ", "\r\n")],
  [
    "twelve words behind numbers",
    PHRASE.split(" ")
      .map((word, at) => `${at + 1}. ${word}`)
      .join("  "),
  ],
  ["twelve words with commas", PHRASE.replaceAll(" ", ", ")],
  ["fifteen words", `${PHRASE} legal winner thank`],
  ["eighteen words", `${PHRASE} legal winner thank year wave sausage`],
  ["twenty-four words", `${PHRASE} ${PHRASE}`],
  ["twelve Japanese words", Array.from({ length: 12 }, () => "あいこくしん").join("\u3000")],
  ["a key encrypted by BIP38", "6PRVWUbkzzsbcVac2qwfssoUJAN1Xhrg6bNk8J7Nzm5H7kxEbn2Nh2ZoGg"],
  ["a mini key", "S6c56bnXQiBjk9mqSYE7ykVQ7NzrRy"],
];

describe("a secret", () => {
  test.each(UNMISTAKABLE)("%s is seen in any text", (_, secret) => {
    for (const text of [
      secret,
      ` ${secret}\n`,
      `my key is ${secret}, keep it`,
      `https://x.test/?k=${secret}`,
      `"${secret}"`,
    ]) {
      expect(looksLikeSecret(text, WALLET_FIELDS)).toBe(true);
      expect(looksLikeSecret(text, FREE_TEXT)).toBe(true);
    }
  });

  test.each(BY_SHAPE)("%s is seen in a wallet's fields, and is no secret in free text", (_, secret) => {
    expect(looksLikeSecret(secret)).toBe(true);
    expect(looksLikeSecret(`  ${secret}\n`)).toBe(true);
    expect(looksLikeSecret(secret, FREE_TEXT)).toBe(false);
  });

  test("each ambiguous shape can be asked for alone", () => {
    expect(looksLikeSecret(PHRASE, { ...FREE_TEXT, words: true })).toBe(true);
    expect(looksLikeSecret(PHRASE, { ...WALLET_FIELDS, words: false })).toBe(false);
    expect(looksLikeSecret(bytesToHex(KEY), { ...FREE_TEXT, hex: true })).toBe(true);
    expect(looksLikeSecret(bytesToHex(KEY), { ...WALLET_FIELDS, hex: false })).toBe(false);
  });

  test("any key in wallet import format is seen", () => {
    const keys = fc.record({
      version: fc.constantFrom(0x80, 0xb0, 0xef),
      key: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      tail: fc.constantFrom([], [1]),
    });
    fc.assert(
      fc.property(keys, ({ version, key, tail }) => {
        const text = encodeBase58check(Uint8Array.of(version, ...key, ...tail));
        expect(looksLikeSecret(text, FREE_TEXT)).toBe(true);
        expect(looksLikeSecret(text)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("what is no secret", () => {
  test.each([
    ...bip32.pairs.map(([, xpub = ""]) => xpub),
    ...accountKeys.accounts.flatMap(({ xpub, derivationPath, addresses }) => [xpub, derivationPath, ...addresses]),
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
    "XPUB_WALLET",
    "USDT",
    "BTC_TESTNET",
    "",
    "an address of a wallet that I own",
  ])("%s passes in a wallet's fields", (text) => {
    expect(looksLikeSecret(text)).toBe(false);
  });

  test.each([
    "an ordinary sentence with twelve or more words in lower case is what people write about their orders",
    "paid by 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b, thank you",
    "How to keep an xprv safe",
    "https://example.test/orders/6f1c7d4d5e0a4b9d8c3e2f1a0b9c8d7e6f1c7d4d5e0a4b9d8c3e2f1a0b9c8d7e",
  ])("%s passes in free text", (text) => {
    expect(looksLikeSecret(text, FREE_TEXT)).toBe(false);
  });

  test("any address of any network passes", () => {
    const hash = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(hash, fc.constantFrom(0x00, 0x05, 0x30, 0x32, 0x3a, 0x41, 0x6f, 0xc4), (bytes, version) => {
        expect(looksLikeSecret(encodeBase58check(Uint8Array.of(version, ...bytes)))).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  test("an address that starts like a private prefix passes because its checksum holds", () => {
    const lookAlike = addressStarting(/^Tprv/i, 0x41);
    expect(looksLikeSecret(lookAlike)).toBe(false);
    const [tron] = NETWORKS.filter((each) => each.name === "TRX");
    if (tron === undefined) throw new Error("no TRON");
    expect(parseAddress(tron, lookAlike)).toEqual({ ok: true, value: lookAlike });
    expect(looksLikeSecret(lookAlike.slice(0, -1))).toBe(true);
  });
});

/** Searches from a fixed start, so that the test always finds the same address. */
function addressStarting(shape: RegExp, version: number): string {
  for (let i = 0; ; i++) {
    const hash = createHash("sha256").update(`look-alike ${i}`).digest().subarray(0, 20);
    const text = encodeBase58check(Uint8Array.of(version, ...hash));
    if (shape.test(text)) return text;
  }
}

describe("a parsed body", () => {
  test.each([
    ["in a member", { a: 1, b: [true, null, { c: ZPRV }] }],
    ["in a member's name", { a: { [ZPRV]: 1 } }],
    ["in a list", [[[ZPRV]]]],
    ["as the whole", ZPRV],
  ])("%s is seen", (_, body) => {
    expect(containsSecret(body)).toBe(true);
    expect(containsSecret(body, FREE_TEXT)).toBe(true);
  });

  test("without one passes", () => {
    expect(
      containsSecret({ walletType: "XPUB_WALLET", xpub: ZPUB, derivationPath: "m/84'/0'/0'", n: 1e9, t: [null] }),
    ).toBe(false);
    expect(containsSecret({ description: PHRASE }, FREE_TEXT)).toBe(false);
    expect(containsSecret({ description: PHRASE })).toBe(true);
  });

  test("may nest as deep as a body of 64 KiB allows", () => {
    const deep = JSON.parse(`${"[".repeat(32_000)}"${ZPRV}"${"]".repeat(32_000)}`);
    expect(containsSecret(deep)).toBe(true);
  });
});
