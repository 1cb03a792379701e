// The search for private keys must have a bounded cost: each body has one budget of checksums, no matter how lookalikes are distributed in it.
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

/** Counts the checksums that were computed. */
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
/** Has the length and the first character of a WIF key, but a wrong checksum. Each copy costs one checksum. */
const LOOK_ALIKE = `K${"x".repeat(51)}`;

/** Texts that need a checksum at almost every position, and contain no key. */
const COSTLY: readonly (readonly [string, string])[] = [
  ["starts of WIF keys", "5J"],
  ["starts of compressed WIF keys", "Kx"],
  ["starts of extended keys", "xpub"],
  ["runs as long as an extended key", `${"z".repeat(111)} `],
  ["words of the word list", "abandon zoo about "],
  ["addresses that contain the prefix of a private key", `${addressWithPrefix()} `],
];

/** An address that contains `xprv` or a similar prefix, followed by 16 more characters. */
function addressWithPrefix(): string {
  for (let n = 0; ; n++) {
    const hash = createHash("sha256").update(`address ${n}`).digest().subarray(0, 20);
    const text = encodeBase58check(Uint8Array.of(0, ...hash));
    if (/[xyztuvYZUV]prv[1-9A-HJ-NP-Za-km-z]{16}/.test(text)) return text;
  }
}

/** A body of about `bytes` bytes that repeats `unit`, distributed over this many texts. */
function spread(unit: string, texts: number, bytes: number): Json {
  const each = unit.repeat(Math.ceil(bytes / texts / unit.length)).slice(0, Math.floor(bytes / texts));
  return { metadata: Object.fromEntries(Array.from({ length: texts }, (_, n) => [`key${n}`, each])) };
}

/** The forms of secrets in a wallet's fields, except those that are refused for their shape alone. */
const SHAPELESS = { ...WALLET_FIELDS, words: false, fragments: false };

test.each(COSTLY)(
  "searching a body full of %s takes bounded time, no matter how many texts the body consists of",
  (_, unit) => {
    for (const texts of [1, 32, 76, 500])
      for (const forms of [FREE_TEXT, SHAPELESS]) {
        const budget = new ChecksumBudget();
        expect(containsSecret(spread(unit, texts, 60_000), forms, budget)).toBe(true);
        expect(budget.isUsedUp).toBe(true);
      }
  },
);

test("a body with any mixture of texts is searched or refused within one budget", () => {
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
])(
  "%s is found among as many lookalikes as the budget covers; a body with more is refused without a full search",
  (_, secret) => {
    for (const lookAlikes of [0, 1, LIMITS.checksumsPerBody / 2, LIMITS.checksumsPerBody - 10, 1_000]) {
      const budget = new ChecksumBudget();
      const text = `${LOOK_ALIKE} `.repeat(lookAlikes);
      for (const body of [[secret, text], `${text}${secret}`, { [secret]: 1, b: text }])
        expect(containsSecret(body, FREE_TEXT)).toBe(true);
      expect(containsSecret([secret, text], FREE_TEXT, budget)).toBe(true);
      expect(budget.isUsedUp).toBe(lookAlikes > LIMITS.checksumsPerBody);
    }
  },
);

test("real shop data needs only a few checksums", () => {
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
