import { createHash } from "node:crypto";
import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAddress } from "../../../../src/chains/dispatch/address.ts";
import { decodeBase58check, encodeBase58check } from "../../../../src/chains/encodings/address-text.ts";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import {
  containsSecret,
  FREE_TEXT,
  IMAGE_UPLOAD,
  looksLikeSecret,
  PRODUCT_TEXT,
  WALLET_FIELDS,
} from "../../../../src/chains/secrets/secret-material.ts";
import { bytesToHex } from "../../../../src/lib/bytes.ts";
import { RUNS } from "../../../support/property-runs.ts";
import accountKeys from "../../../vectors/account-keys.json" with { type: "json" };
import bip32 from "../../../vectors/bip32.json" with { type: "json" };

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

/** Secrets that are recognized in any text and any context. */
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

const HEX = bytesToHex(KEY);
/** BIP39's own vectors (trezor/python-mnemonic, vectors.json). */
const PHRASES = [
  PHRASE,
  "legal winner thank year wave sausage worth useful legal winner thank yellow",
  "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic avoid letter always",
  "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo vote",
];

/** Texts that count as secrets only in a wallet's fields, where no public text looks like them. */
const BY_SHAPE: readonly (readonly [string, string])[] = [
  ["the start of an xprv", "xprv9s2"],
  ["an xprv in the wrong case", ZPRV.toUpperCase()],
  ["the start of an Ltpv", "Ltpv71Q8zJg"],
  ["a WIF with a wrong character", `${WIF.slice(0, -1)}e`],
  ["64 hexadecimal digits", bytesToHex(KEY)],
  ["64 hexadecimal digits after 0x", `0x${bytesToHex(KEY)}`],
  ["64 upper-case hexadecimal digits", bytesToHex(KEY.map(() => 0xab)).toUpperCase()],
  ["a seed of 128 digits", accountKeys.seed.hex],
  ["twelve words with a wrong checksum", PHRASE.replace("about", "above")],
  ["twelve Japanese words", Array.from({ length: 12 }, () => "あいこくしん").join("\u3000")],
  ["a key encrypted by BIP38", "6PRVWUbkzzsbcVac2qwfssoUJAN1Xhrg6bNk8J7Nzm5H7kxEbn2Nh2ZoGg"],
  ["a mini key", "S6c56bnXQiBjk9mqSYE7ykVQ7NzrRy"],
];

describe("a secret", () => {
  test.each(UNMISTAKABLE)("%s is recognized in any text", (_, secret) => {
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

  test.each(BY_SHAPE)("%s is recognized in a wallet's fields, but not in free text", (_, secret) => {
    expect(looksLikeSecret(secret)).toBe(true);
    expect(looksLikeSecret(`  ${secret}\n`)).toBe(true);
    expect(looksLikeSecret(secret, FREE_TEXT)).toBe(false);
  });

  test("with an ambiguous shape is recognized only if the search for that shape is switched on", () => {
    const words = PHRASE.replace("about", "above");
    expect(looksLikeSecret(words, { ...FREE_TEXT, words: true })).toBe(true);
    expect(looksLikeSecret(words, { ...WALLET_FIELDS, words: false })).toBe(false);
    expect(looksLikeSecret(bytesToHex(KEY), { ...FREE_TEXT, hex: true })).toBe(true);
    expect(looksLikeSecret(bytesToHex(KEY), { ...WALLET_FIELDS, hex: false })).toBe(false);
  });

  test("in wallet import format is recognized, for any key", () => {
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

describe("a recovery phrase in free text", () => {
  const spelled: readonly (readonly [string, (phrase: string) => string])[] = [
    ["as it is", (phrase) => phrase],
    ["in upper case", (phrase) => phrase.toUpperCase()],
    ["with capitals", (phrase) => phrase.replace(/\b\w/g, (letter) => letter.toUpperCase())],
    ["with one word per line", (phrase) => phrase.replaceAll(" ", "\r\n")],
    [
      "with numbers before the words",
      (phrase) => [...phrase.split(" ").entries()].map(([at, word]) => `${at + 1}. ${word}`).join("  "),
    ],
    ["with commas", (phrase) => phrase.replaceAll(" ", ", ")],
    ["between other words of the list", (phrase) => `I keep my phrase ${phrase} about your zoo, thank you`],
    [
      "in full-width letters",
      (phrase) => phrase.replace(/[a-z]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
    ],
  ];
  test.each(spelled)("is recognized %s", (_, spell) => {
    for (const phrase of PHRASES) expect(looksLikeSecret(spell(phrase), FREE_TEXT)).toBe(true);
  });

  test("is recognized for any entropy", () => {
    const entropy = fc.constantFrom(16, 20, 24, 28, 32).chain((n) => fc.uint8Array({ minLength: n, maxLength: n }));
    fc.assert(
      fc.property(entropy, (bytes) => {
        const phrase = entropyToMnemonic(bytes, wordlist);
        expect(looksLikeSecret(`our ref: ${phrase}.`, FREE_TEXT)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  test("is not recognized with a wrong checksum or with fewer words", () => {
    expect(looksLikeSecret(PHRASE.replace("about", "above"), FREE_TEXT)).toBe(false);
    expect(looksLikeSecret(PHRASE.replace("abandon ", ""), FREE_TEXT)).toBe(false);
    expect(looksLikeSecret(PHRASE.replace("abandon ", "abandon, and then "), FREE_TEXT)).toBe(false);
  });

  test("is searched for in bounded time in a long run of listed words", () => {
    expect(looksLikeSecret("abandon ".repeat(8_000), FREE_TEXT)).toBe(true);
  });
});

describe("a key inside other text", () => {
  const UNCOMPRESSED = encodeBase58check(Uint8Array.of(0x80, ...KEY));
  test.each([
    ["a WIF between letters", `walletKey${WIF}backup`],
    ["an uncompressed WIF between digits", `2024${UNCOMPRESSED}1`],
    ["a private key between letters", `z${ZPRV}z`],
    ["private bytes under xpub between letters", `KEY${withVersion(ZPRV, 0x0488b21e)}END`],
    ["64 digits after private key", `my private key: ${HEX}`],
    ["64 digits after PRIVATE KEY IS", `PRIVATE KEY IS 0x${HEX.toUpperCase()}`],
    ["64 digits after privkey=", `privkey=${HEX}&x=1`],
    ["64 digits after privateKey in JSON", `{"privateKey":"0x${HEX}"}`],
    ["64 digits after secret_key", `secret_key = '${HEX}'`],
    ["a seed", `seed hex: ${HEX}${HEX}`],
  ])("is recognized: %s", (_, text) => {
    expect(looksLikeSecret(text, FREE_TEXT)).toBe(true);
  });

  test.each([
    `tx ${HEX} was paid`,
    `private order, key facts: ${HEX}`,
    `the key is under the mat, the hash is ${HEX}`,
    `private key: ${HEX}ff`,
    `primary key: ${HEX}`,
    `a${WIF.slice(0, -1)}e`,
  ])("is not recognized in: %s", (text) => {
    expect(looksLikeSecret(text, FREE_TEXT)).toBe(false);
  });

  test("is recognized when the name of the member says that the digits are a key", () => {
    expect(containsSecret({ metadata: { privateKey: HEX } }, FREE_TEXT)).toBe(true);
    expect(containsSecret({ metadata: { txHash: HEX } }, FREE_TEXT)).toBe(false);
  });

  test("is searched for everywhere except in the bytes of an image", () => {
    const data = `AAAA${ZPRV}AAAA`;
    expect(containsSecret({ contentType: "image/png", data }, IMAGE_UPLOAD)).toBe(false);
    expect(containsSecret({ contentType: ZPRV, data: "" }, IMAGE_UPLOAD)).toBe(true);
    expect(containsSecret({ name: "x", image: `data:image/png;base64,${data}` }, PRODUCT_TEXT)).toBe(false);
    expect(containsSecret({ name: "x", image: `https://x.test/${ZPRV}` }, PRODUCT_TEXT)).toBe(true);
    expect(containsSecret({ name: "x", description: `data:image/png;base64,${data}` }, PRODUCT_TEXT)).toBe(true);
    expect(containsSecret({ name: "x", metadata: { image: ZPRV } }, PRODUCT_TEXT)).toBe(true);
  });
});

describe("what is not a secret", () => {
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

  test("an address that starts like a private prefix passes because its checksum is valid", () => {
    const lookAlike = addressStarting(/^Tprv/i, 0x41);
    expect(looksLikeSecret(lookAlike)).toBe(false);
    const [tron] = NETWORKS.filter((each) => each.name === "TRX");
    if (tron === undefined) throw new Error("no TRON");
    expect(parseAddress(tron, lookAlike)).toEqual({ ok: true, value: lookAlike });
    expect(looksLikeSecret(lookAlike.slice(0, -1))).toBe(true);
  });
});

/** The search starts at a fixed number, so that it always finds the same address. */
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
    ["as the whole body", ZPRV],
  ])("with a secret %s is recognized", (_, body) => {
    expect(containsSecret(body)).toBe(true);
    expect(containsSecret(body, FREE_TEXT)).toBe(true);
  });

  test("without a secret passes", () => {
    expect(
      containsSecret({ walletType: "XPUB_WALLET", xpub: ZPUB, derivationPath: "m/84'/0'/0'", n: 1e9, t: [null] }),
    ).toBe(false);
    const words = PHRASE.replace("about", "above");
    expect(containsSecret({ description: words }, FREE_TEXT)).toBe(false);
    expect(containsSecret({ description: words })).toBe(true);
  });

  test("is searched even if it is nested as deeply as a body of 64 KiB allows", () => {
    const deep = JSON.parse(`${"[".repeat(32_000)}"${ZPRV}"${"]".repeat(32_000)}`);
    expect(containsSecret(deep)).toBe(true);
  });
});

/** About one public key or address in 5,000 contains these letters by chance. */
describe("the prefix of a private key inside public text", () => {
  test.each([
    [
      "an extended public key",
      "xpub6DRSwaGAUzFdd51R9Mg2ZrurxRuzZ2VUrDxcr2EZnKrsxD3HuLebBDcepw1ZUbyprvNqFUp7GnnKYx3VSx2TLfzZN3wUyLP8po4HmVMxWZE",
    ],
    ["an address", "bc1qedvprvr3knrv7d8wrhmax3zfcnryg2uygl8lgq"],
  ])("does not count as a secret in %s", (_, text) => {
    expect(text).toMatch(/[xyztuvYZUV]prv[1-9A-HJ-NP-Za-km-z]{16}/);
    for (const forms of [WALLET_FIELDS, FREE_TEXT]) {
      expect(looksLikeSecret(text, forms)).toBe(false);
      expect(looksLikeSecret(`pays to ${text} from now on`, forms)).toBe(false);
    }
  });

  test.each(["my", ZPUB.slice(1)])(
    "counts as a secret if the letters before it are not part of a public key: %s",
    (letters) => {
      expect(looksLikeSecret(`${letters}${ZPRV.slice(0, 24)}`, FREE_TEXT)).toBe(true);
    },
  );

  test.each(accountKeys.accounts.map(({ xprv }) => xprv))("counts as a secret if the whole key follows: %s", (xprv) => {
    for (const text of [`ab${xprv}`, `${ZPUB}${xprv}`, `${xprv}${ZPUB}`])
      expect(looksLikeSecret(text, FREE_TEXT)).toBe(true);
  });
});
