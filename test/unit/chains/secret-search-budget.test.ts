// The cost limit of the search for private keys: one budget of checksums per body, however its author spreads lookalikes over it.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeBase58check } from "../../../src/chains/encodings/address-text.ts";
import { ChecksumBudget } from "../../../src/chains/secrets/checksum-budget.ts";
import { containsSecret, FREE_TEXT, WALLET_FIELDS } from "../../../src/chains/secrets/secret-material.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Json } from "../../../src/lib/typed-json.ts";
import { RUNS } from "../../support/property-runs.ts";
import accountKeys from "../../vectors/account-keys.json" with { type: "json" };

/** Counts the checksums paid for. */
class Counted extends ChecksumBudget {
  checksums = 0;

  override spend(checksums: number): boolean {
    const isPaid = super.spend(checksums);
    if (isPaid) this.checksums += checksums;
    return isPaid;
  }
}

const EXTENDED = accountKeys.accounts[2]?.xprv ?? "";
const wif = () => encodeBase58check(Uint8Array.of(0x80, ...new Uint8Array(32).fill(7), 1));
/** Like a WIF key in length and first characters, once per copy; its checksum fails. */
const LOOK_ALIKE = `K${"x".repeat(51)}`;

/** Texts that need a checksum almost everywhere, and contain no key. */
const COSTLY: readonly (readonly [string, string])[] = [
  ["starts of WIF keys", "5J"],
  ["starts of compressed WIF keys", "Kx"],
  ["starts of extended keys", "xpub"],
  ["runs as long as an extended key", `${"z".repeat(111)} `],
  ["words of the list", "abandon zoo about "],
  ["an address that holds the prefix of a private key", `${addressWithPrefix()} `],
];

/** An address in which `xprv` and 16 more characters occur. */
function addressWithPrefix(): string {
  for (let n = 0; ; n++) {
    const hash = createHash("sha256").update(`address ${n}`).digest().subarray(0, 20);
    const text = encodeBase58check(Uint8Array.of(0, ...hash));
    if (/[xyztuvYZUV]prv[1-9A-HJ-NP-Za-km-z]{16}/.test(text)) return text;
  }
}

/** `bytes` of the unit, spread over this many texts of one body. */
function spread(unit: string, texts: number, bytes: number): Json {
  const each = unit.repeat(Math.ceil(bytes / texts / unit.length)).slice(0, Math.floor(bytes / texts));
  return { metadata: Object.fromEntries(Array.from({ length: texts }, (_, n) => [`key${n}`, each])) };
}

/** Forms that refuse nothing just for its shape. */
const SHAPELESS = { ...WALLET_FIELDS, words: false, fragments: false };

test.each(COSTLY)("the search of a body of %s is bounded, however many texts they are spread over", (_, unit) => {
  for (const texts of [1, 32, 76, 500])
    for (const forms of [FREE_TEXT, SHAPELESS]) {
      const budget = new ChecksumBudget();
      expect(containsSecret(spread(unit, texts, 60_000), forms, budget)).toBe(true);
      expect(budget.isUsedUp).toBe(true);
    }
});

test("a body of any mixture of texts is searched or refused within one budget", () => {
  const text = fc
    .array(fc.oneof(fc.constantFrom(...COSTLY.map(([, unit]) => unit)), fc.string()), { maxLength: 200 })
    .map((units) => units.join(""));
  const bodies = fc.dictionary(fc.oneof(text, fc.string()), fc.oneof(text, fc.array(text), fc.integer()));
  fc.assert(
    fc.property(bodies, fc.constantFrom(FREE_TEXT, SHAPELESS), (body, forms) => {
      const budget = new Counted();
      const isRefused = containsSecret(body, forms, budget);
      expect(budget.checksums).toBeLessThanOrEqual(LIMITS.checksumsPerBody);
      if (budget.isUsedUp) expect(isRefused).toBe(true);
    }),
    { numRuns: RUNS / 10 },
  );
});

test.each([
  ["a WIF key", wif()],
  ["an extended private key", EXTENDED],
  ["a recovery phrase", "legal winner thank year wave sausage worth useful legal winner thank yellow"],
])("%s is found among as many lookalikes as the budget covers, and refused unsearched among more", (_, secret) => {
  for (const lookAlikes of [0, 1, LIMITS.checksumsPerBody / 2, LIMITS.checksumsPerBody - 10, 1_000]) {
    const budget = new ChecksumBudget();
    const text = `${LOOK_ALIKE} `.repeat(lookAlikes);
    for (const body of [[secret, text], `${text}${secret}`, { [secret]: 1, b: text }])
      expect(containsSecret(body, FREE_TEXT)).toBe(true);
    expect(containsSecret([secret, text], FREE_TEXT, budget)).toBe(true);
    expect(budget.isUsedUp).toBe(lookAlikes > LIMITS.checksumsPerBody);
  }
});

test("real shop data needs few checksums", () => {
  const hash = (n: number) => createHash("sha256").update(`order ${n}`).digest();
  const texts = Array.from({ length: 50 }, (_, n) => [
    `paid by ${hash(n).toString("hex")}, thank you`,
    encodeBase58check(Uint8Array.of(0x41, ...hash(n).subarray(0, 20))),
    hash(n).toString("base64"),
    Array.from({ length: 8 }, (_, k) => hash(n * 8 + k).toString("base64url")).join(""),
  ]);
  const keys = accountKeys.accounts.slice(0, 6).map(({ xpub }) => xpub);
  const budget = new Counted();
  expect(containsSecret([texts, keys, "a plain order of 3 shoes and a hat"], FREE_TEXT, budget)).toBe(false);
  expect(budget.checksums).toBeLessThanOrEqual(LIMITS.checksumsPerBody / 2);
});
