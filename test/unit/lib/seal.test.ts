import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Keyring, parseKeyring } from "../../../src/lib/keyring.ts";
import { seal, unseal } from "../../../src/lib/seal.ts";

const key = (fill: number) => Buffer.alloc(32, fill).toString("base64");
function ring(text: string): Keyring {
  const parsed = parseKeyring("TEST_KEY", text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}
const KEYS = ring(`k1:${key(1)}`);

describe("a sealed text", () => {
  it("opens to the original text, and does not contain it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", minLength: 4 }), async (text) => {
        const sealed = await seal(KEYS, "place", text);
        expect(sealed).not.toContain(text);
        expect(await unseal(KEYS, "place", sealed)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it("is different each time the same text is sealed", async () => {
    expect(await seal(KEYS, "place", "same")).not.toBe(await seal(KEYS, "place", "same"));
  });

  it("opens only with the same context, key and key id", async () => {
    const sealed = await seal(KEYS, "totp:usr_1", "secret");
    expect(await unseal(KEYS, "totp:usr_2", sealed)).toBeUndefined();
    expect(await unseal(ring(`k1:${key(2)}`), "totp:usr_1", sealed)).toBeUndefined();
    expect(await unseal(ring(`k2:${key(1)}`), "totp:usr_1", sealed)).toBeUndefined();
    expect(await unseal(ring(`k2:${key(2)},k1:${key(1)}`), "totp:usr_1", sealed)).toBe("secret");
  });

  it("does not open if any one character is changed", async () => {
    const sealed = await seal(KEYS, "place", "secret");
    const opened = [...sealed].map((_, at) => {
      const other = sealed[at] === "A" ? "B" : "A";
      return unseal(KEYS, "place", sealed.slice(0, at) + other + sealed.slice(at + 1));
    });
    expect((await Promise.all(opened)).filter((text) => text !== undefined)).toEqual([]);
    expect(await unseal(KEYS, "place", "")).toBeUndefined();
    expect(await unseal(KEYS, "place", "v1.k1.AAAA")).toBeUndefined();
  });
});
