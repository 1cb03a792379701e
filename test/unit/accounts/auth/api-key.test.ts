import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiKeyKind, hashApiKey, type KeyKind, newApiKey } from "../../../../src/accounts/auth/api-key.ts";
import { mutationOf } from "../../../support/mutations.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { randomFrom } from "../../../support/random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Six base62 digits of the CRC32 that Node's zlib computes, most significant first. */
function checksumOf(body: string): string {
  let rest = crc32(body);
  return Array.from({ length: 6 }, () => {
    const digit = BASE62.charAt(rest % 62);
    rest = Math.floor(rest / 62);
    return digit;
  })
    .reverse()
    .join("");
}

const body = fc
  .tuple(fc.constantFrom("sk_", "pk_"), fc.string({ unit: fc.constantFrom(...BASE62), minLength: 32, maxLength: 32 }))
  .map(([prefix, random]) => prefix + random);

describe("a new API key", () => {
  const kinds: readonly [KeyKind, string][] = [
    ["SECRET", "sk_"],
    ["PUBLIC", "pk_"],
  ];
  it.each(kinds)("of kind %s is %s and 38 base62 characters, and knows its kind", (kind, prefix) => {
    for (let i = 0; i < 100; i++) {
      const { secret, hash, display } = newApiKey(kind, randomBytes);
      expect(secret).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{38}$`));
      expect(apiKeyKind(secret)).toBe(kind);
      expect(hash).toBe(createHash("sha256").update(secret).digest("hex"));
      expect(display).toBe(`${secret.slice(0, 7)}...${secret.slice(-4)}`);
    }
  });

  it("shows 4 of its random characters and 4 of its checksum, and no more", () => {
    const { secret, display } = newApiKey("SECRET", randomBytes);
    expect(display).toHaveLength(14);
    expect(secret).not.toContain(display);
  });

  it("draws a byte again where taking it would favour a character", () => {
    const draws = [new Uint8Array(32).fill(255), new Uint8Array(32).fill(248), new Uint8Array(32).fill(247)];
    const { secret } = newApiKey("SECRET", () => draws.shift() ?? new Uint8Array(32));
    expect(secret.slice(3, 35)).toBe("z".repeat(32));
    expect(draws).toEqual([]);
  });

  it("asks for more bytes when those drawn were not enough, and keeps their order", () => {
    const first = Uint8Array.from({ length: 32 }, (_, at) => (at < 31 ? at : 250));
    const draws = [first, new Uint8Array(32).fill(61)];
    expect(newApiKey("PUBLIC", () => draws.shift() ?? first).secret.slice(3, 35)).toBe(`${BASE62.slice(0, 31)}z`);
  });

  it("has every character equally likely, by chi-square over a seeded source", () => {
    const random = randomFrom(20_261_121);
    const bytes = (count: number) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
    const counts = new Map([...BASE62].map((letter) => [letter, 0]));
    const keys = 2_000;
    for (let i = 0; i < keys; i++) {
      for (const letter of newApiKey("SECRET", bytes).secret.slice(3, 35))
        counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    const expected = (keys * 32) / 62;
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: 0.999 quantile 100.9. The modulo bias of an unrejected byte would give about 330.
    expect(counts.size).toBe(62);
    expect(chiSquare).toBeLessThan(100.9);
  });
});

describe("the checksum of an API key", () => {
  it("is the CRC32 whose check value for 123456789 is CBF43926, over all before it", () => {
    expect(crc32("123456789")).toBe(0xcbf43926);
    fc.assert(
      fc.property(body, (text) => {
        expect(apiKeyKind(text + checksumOf(text))).toBe(text.startsWith("sk_") ? "SECRET" : "PUBLIC");
      }),
      { numRuns: RUNS },
    );
  });

  it("refuses every change of one character, at any place", () => {
    const key = body.map((text) => text + checksumOf(text));
    fc.assert(
      fc.property(
        key.chain((text) => mutationOf(text, `${BASE62}_- .`)),
        (mutated) => {
          expect(apiKeyKind(mutated)).toBeUndefined();
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("refuses all 38 x 61 changes of one key's own characters, and its other prefix", () => {
    const { secret } = newApiKey("SECRET", randomBytes);
    let tried = 0;
    for (let at = 3; at < 41; at++) {
      for (const letter of BASE62) {
        if (letter === secret[at]) continue;
        tried += 1;
        expect(apiKeyKind(secret.slice(0, at) + letter + secret.slice(at + 1))).toBeUndefined();
      }
    }
    expect(tried).toBe(38 * 61);
    expect(apiKeyKind(`pk${secret.slice(2)}`)).toBeUndefined();
  });

  it("refuses two neighbours that changed places", () => {
    const { secret } = newApiKey("SECRET", (count) => Uint8Array.from({ length: count }, (_, at) => at));
    for (let at = 3; at < 34; at++) {
      const swapped = secret.slice(0, at) + secret[at + 1] + secret[at] + secret.slice(at + 2);
      expect(apiKeyKind(swapped)).toBeUndefined();
    }
  });

  const { secret } = newApiKey("SECRET", (count) => Uint8Array.from({ length: count }, (_, at) => at));
  it.each([
    ["nothing", ""],
    ["its prefix", "sk_"],
    ["a cut key", secret.slice(0, -1)],
    ["a longer key", `${secret}0`],
    ["a line break behind it", `${secret}\n`],
    ["a space before it", ` ${secret}`],
    ["another prefix", `rk${secret.slice(2)}`],
    ["upper case", secret.toUpperCase()],
    ["two keys", `${secret}, ${secret}`],
    ["full-width digits", secret.replace("0", "０")],
  ])("refuses %s", (_, text) => {
    expect(apiKeyKind(text)).toBeUndefined();
  });

  it("is part of what is hashed, so that two keys have two hashes", () => {
    expect(hashApiKey(secret)).not.toBe(hashApiKey(secret.slice(0, -6)));
  });
});
