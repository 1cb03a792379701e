import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isMacOf, type Keyring, macsOfText, macText, parseKeyring } from "../../../src/lib/keyring.ts";

const key = (fill: number) => Buffer.alloc(32, fill).toString("base64");
function ring(text: string): Keyring {
  const parsed = parseKeyring("TEST_KEY", text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

describe("a keyring", () => {
  it("computes HMAC-SHA256 with its first key, and verifies with any of its keys", () => {
    const old = ring(`k1:${key(1)}`);
    const rotated = ring(` k2:${key(2)} , k1:${key(1)}`);
    const made = macText(old, "code:1");
    expect(made).toEqual({
      mac: createHmac("sha256", Buffer.alloc(32, 1)).update("code:1").digest("hex"),
      macKeyId: "k1",
    });
    expect(isMacOf(rotated, "code:1", made)).toBe(true);
    expect(macText(rotated, "code:1").macKeyId).toBe("k2");
    expect(isMacOf(old, "code:1", macText(rotated, "code:1"))).toBe(false);
    expect(macsOfText(rotated, "code:1")).toEqual([macText(rotated, "code:1").mac, made.mac]);
  });

  it("does not verify a different text, a missing HMAC or an HMAC with the id of a different key", () => {
    const keys = ring(`k1:${key(1)},k2:${key(2)}`);
    const made = macText(keys, "code:1");
    expect(isMacOf(keys, "code:2", made)).toBe(false);
    expect(isMacOf(keys, "code:1", { ...made, macKeyId: "k2" })).toBe(false);
    expect(isMacOf(keys, "code:1", { ...made, macKeyId: "k9" })).toBe(false);
    expect(isMacOf(keys, "code:1", { mac: null, macKeyId: "k1" })).toBe(false);
  });

  it.each([
    undefined,
    "",
    "k1",
    `k1:${Buffer.alloc(31).toString("base64")}`,
    `k 1:${key(1)}`,
    "k1:%%%",
    `k1:${key(1)},`,
  ])("cannot be parsed from %j, and the error names the variable but never the value", (text) => {
    const parsed = parseKeyring("TEST_KEY", text);
    expect(parsed.ok).toBe(false);
    if (parsed.ok) return;
    expect(parsed.error).toMatch(/^TEST_KEY /);
    expect(parsed.error).not.toContain(key(1));
  });
});
