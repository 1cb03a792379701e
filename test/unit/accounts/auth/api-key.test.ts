import { createHash, createHmac, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  apiKeyKind,
  apiKeyStanding,
  hashApiKey,
  isOfApplication,
  type KeyKind,
  type KeyMaking,
  newApiKey,
} from "../../../../src/accounts/auth/api-key.ts";
import type { SecretKey } from "../../../../src/lib/keyring.ts";
import { keyringOf } from "../../../support/keyrings.ts";
import { mutationOf } from "../../../support/mutations.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { randomFrom } from "../../../support/random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const SHOP = "mer_01KAMX0000ABCDEFGHJKMNPQRS";
const MAC_SECRET = Buffer.alloc(32, 1);
const MAC_KEYS = keyringOf(`k1:${MAC_SECRET.toString("base64")}`);

const made = (of: Partial<KeyMaking> = {}) =>
  newApiKey({ kind: "SECRET", merchantId: SHOP, macKeys: MAC_KEYS, randomBytes, ...of });

/** The MAC computed with Node: the first 35 bits as six base62 digits, most significant first. */
function macOf(body: string, merchantId: string): string {
  const text = `7:api-key|${body.length}:${body}|${merchantId.length}:${merchantId}`;
  let rest = Math.floor(createHmac("sha256", MAC_SECRET).update(text).digest().readUIntBE(0, 5) / 32);
  return Array.from({ length: 6 }, () => {
    const digit = BASE62.charAt(rest % 62);
    rest = Math.floor(rest / 62);
    return digit;
  })
    .reverse()
    .join("");
}

describe("a new API key", () => {
  const kinds: readonly [KeyKind, string, boolean][] = [
    ["SECRET", "sk_", false],
    ["PUBLIC", "pk_", false],
    ["SECRET", "ak_", true],
  ];
  it.each(kinds)("of kind %s is %s plus 38 base62 characters, and its kind is recognised", (kind, prefix, isOf) => {
    for (let i = 0; i < 100; i++) {
      const { secret, hash, display } = made({ kind, isForApplication: isOf });
      expect(isOfApplication(secret)).toBe(isOf);
      expect(secret).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{38}$`));
      expect(apiKeyKind(secret)).toBe(kind);
      expect(hash).toBe(createHash("sha256").update(secret).digest("hex"));
      expect(display).toBe(`${secret.slice(0, 7)}...${secret.slice(-4)}`);
    }
  });

  it("has a display form with 4 of its random characters and 4 of its MAC, and no more", () => {
    const { secret, display } = made();
    expect(display).toHaveLength(14);
    expect(secret).not.toContain(display);
  });

  it("is not made from bytes of 248 and more, which would make some characters more likely", () => {
    const draws = [new Uint8Array(32).fill(255), new Uint8Array(32).fill(248), new Uint8Array(32).fill(247)];
    const { secret } = made({ randomBytes: () => draws.shift() ?? new Uint8Array(32) });
    expect(secret.slice(3, 35)).toBe("z".repeat(32));
    expect(draws).toEqual([]);
  });

  it("is completed with more bytes if one was rejected, and keeps the order of the rest", () => {
    const first = Uint8Array.from({ length: 32 }, (_, at) => (at < 31 ? at : 250));
    const draws = [first, new Uint8Array(32).fill(61)];
    const { secret } = made({ randomBytes: () => draws.shift() ?? first });
    expect(secret.slice(3, 35)).toBe(`${BASE62.slice(0, 31)}z`);
  });

  it("contains every character with equal probability, by a chi-square test with seeded random bytes", () => {
    const random = randomFrom(20_261_121);
    const bytes = (count: number) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
    const counts = new Map([...BASE62].map((letter) => [letter, 0]));
    const keys = 2_000;
    for (let i = 0; i < keys; i++) {
      for (const letter of made({ randomBytes: bytes }).secret.slice(3, 35))
        counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    const expected = (keys * 32) / 62;
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: 0.999 quantile 100.9. If no byte were rejected, the modulo bias would give about 330.
    expect(counts.size).toBe(62);
    expect(chiSquare).toBeLessThan(100.9);
  });
});

describe("the standing of an API key", () => {
  const standingOf = (apiKey: string, of: { merchantId?: string; macKeys?: readonly SecretKey[] } = {}) =>
    apiKeyStanding({ apiKey, merchantId: SHOP, macKeys: MAC_KEYS, ...of });
  const making = fc
    .record({
      kind: fc.constantFrom<KeyKind>("SECRET", "PUBLIC"),
      bytes: fc.uint8Array({ minLength: 64, maxLength: 64 }),
    })
    .map(({ kind, bytes }) => {
      const source = [...bytes.filter((byte) => byte < 248), ...new Uint8Array(32)];
      return made({ kind, randomBytes: (count) => Uint8Array.from(source.splice(0, count)) }).secret;
    });

  it("depends on the first 35 bits of an HMAC-SHA-256 over purpose, kind, random part and merchant", () => {
    fc.assert(
      fc.property(making, (secret) => {
        expect(secret.slice(-6)).toBe(macOf(secret.slice(0, -6), SHOP));
        expect(standingOf(secret)).toBe("GENUINE");
      }),
      { numRuns: RUNS },
    );
  });

  // With each secret, a changed random part has the same 35-bit MAC by chance once in 34,359,738,368 mutations. The deep suite tries only 100,000, so
  // this is ignored. A changed MAC never matches.
  it("is never genuine after a change of one character, at any position", () => {
    fc.assert(
      fc.property(
        making.chain((text) => mutationOf(text, `${BASE62}_- .`)),
        (mutated) => {
          expect(standingOf(mutated)).toBe(/^(sk|pk|ak)_[0-9A-Za-z]{38}$/.test(mutated) ? "UNPROVED" : "MALFORMED");
        },
      ),
      { numRuns: RUNS },
    );
  });

  // The key is the same in every run, so the test is deterministic.
  const { secret } = made({ randomBytes: (count) => Uint8Array.from({ length: count }, (_, at) => at) });

  it("is unproved after each of the 38 x 61 changes of one character, and with the other prefix", () => {
    let tried = 0;
    for (let at = 3; at < 41; at++) {
      for (const letter of BASE62) {
        if (letter === secret[at]) continue;
        tried += 1;
        expect(standingOf(secret.slice(0, at) + letter + secret.slice(at + 1))).toBe("UNPROVED");
      }
    }
    expect(tried).toBe(38 * 61);
    expect(standingOf(`pk${secret.slice(2)}`)).toBe("UNPROVED");
  });

  it("is unproved when two adjacent characters are swapped", () => {
    for (let at = 3; at < 34; at++) {
      const swapped = secret.slice(0, at) + secret[at + 1] + secret[at] + secret.slice(at + 2);
      expect(standingOf(swapped)).toBe("UNPROVED");
    }
  });

  it("is unproved for any other merchant", () => {
    for (const merchantId of [`${SHOP.slice(0, -1)}1`, SHOP.toLowerCase(), "mer_1", "", `${SHOP}0`]) {
      expect(standingOf(secret, { merchantId })).toBe("UNPROVED");
    }
  });

  it("is genuine under every secret of a rotation, and unproved once the key's own secret is retired", () => {
    const [old] = MAC_KEYS;
    const [next] = keyringOf(`k2:${Buffer.alloc(32, 2).toString("base64")}`);
    const { secret: newer } = made({ macKeys: [next, old] });
    expect(standingOf(newer, { macKeys: [next] })).toBe("GENUINE");
    for (const apiKey of [secret, newer]) {
      expect(standingOf(apiKey, { macKeys: [next, old] })).toBe("GENUINE");
      expect(standingOf(apiKey, { macKeys: [old, next] })).toBe("GENUINE");
    }
    expect(standingOf(secret, { macKeys: [next] })).toBe("UNPROVED");
    expect(standingOf(newer, { macKeys: [old] })).toBe("UNPROVED");
  });

  it("is unproved if no secret is configured", () => {
    expect(standingOf(secret, { macKeys: [] })).toBe("UNPROVED");
  });

  it.each([
    ["an empty text", ""],
    ["a prefix alone", "sk_"],
    ["a key without its last character", secret.slice(0, -1)],
    ["a key with one more character", `${secret}0`],
    ["a key with a line break after it", `${secret}\n`],
    ["a key with a space before it", ` ${secret}`],
    ["a key with an unknown prefix", `rk${secret.slice(2)}`],
    ["a key in upper case", secret.toUpperCase()],
    ["two keys", `${secret}, ${secret}`],
    ["full-width digits", secret.replace("0", "０")],
  ])("is malformed: %s", (_, text) => {
    expect(standingOf(text)).toBe("MALFORMED");
    expect(apiKeyKind(text)).toBeUndefined();
  });

  it("depends only on characters that the hash covers too: a key without its MAC has a different hash", () => {
    expect(hashApiKey(secret)).not.toBe(hashApiKey(secret.slice(0, -6)));
  });
});
