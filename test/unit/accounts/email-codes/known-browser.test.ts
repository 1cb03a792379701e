import { describe, expect, test } from "vitest";
import { knownBrowserOf, knownBrowserValue } from "../../../../src/accounts/email-codes/known-browser.ts";
import type { Keyring } from "../../../../src/lib/keyring.ts";
import { DAY_MS } from "../../../../src/lib/time.ts";

const NOW_MS = 1_800_000_000_000;
const OLD = { id: "old", secret: new Uint8Array(32).fill(1) };
const NEW = { id: "new", secret: new Uint8Array(32).fill(2) };
const KEYS: Keyring = [OLD];
const valueFor = (emailKey: string, cookie?: string, nowMs = NOW_MS) =>
  knownBrowserValue(KEYS, { cookie, emailKey, nowMs });
const isKnown = (cookie: string | undefined, emailKey: string, nowMs = NOW_MS, keys = KEYS) =>
  knownBrowserOf(keys, { cookie, emailKey, nowMs }) !== undefined;

describe("the proof that a browser has signed in", () => {
  test("is valid only for the address that it was made for", () => {
    const cookie = valueFor("ann@example.com");
    expect(isKnown(cookie, "ann@example.com")).toBe(true);
    expect(isKnown(cookie, "eve@example.com")).toBe(false);
    expect(cookie).not.toContain("ann");
  });

  test("is counted under a hash that differs for each browser and is not contained in the cookie", () => {
    const [mine, theirs] = [valueFor("ann"), valueFor("ann", undefined, NOW_MS + 1)];
    const nameOf = (cookie: string) => knownBrowserOf(KEYS, { cookie, emailKey: "ann", nowMs: NOW_MS });
    expect(nameOf(mine)).toMatch(/^[0-9a-f]{64}$/);
    expect(nameOf(mine)).not.toBe(nameOf(theirs));
    expect(nameOf(valueFor("eve", mine))).toBe(nameOf(mine));
    expect(mine).not.toContain(nameOf(mine));
  });

  test("is kept for the five newest addresses", () => {
    let cookie: string | undefined;
    for (const name of ["a", "b", "c", "d", "e", "f", "f"]) cookie = valueFor(name, cookie);
    expect(["a", "b", "c", "d", "e", "f"].filter((name) => isKnown(cookie, name))).toEqual(["b", "c", "d", "e", "f"]);
    expect(cookie?.split("~")).toHaveLength(5);
  });

  test("expires after 400 days, and is invalid if its time was changed", () => {
    const cookie = valueFor("ann");
    expect(isKnown(cookie, "ann", NOW_MS + 400 * DAY_MS - 1)).toBe(true);
    expect(isKnown(cookie, "ann", NOW_MS + 400 * DAY_MS)).toBe(false);
    const later = cookie.replace(String(NOW_MS), String(NOW_MS + DAY_MS));
    expect(isKnown(later, "ann", NOW_MS + 400 * DAY_MS)).toBe(false);
  });

  test("under an older secret is valid while that secret is in the keyring", () => {
    const cookie = valueFor("ann");
    expect(isKnown(cookie, "ann", NOW_MS, [NEW, OLD])).toBe(true);
    expect(isKnown(cookie, "ann", NOW_MS, [NEW])).toBe(false);
    expect(isKnown(cookie, "ann", NOW_MS, [{ ...NEW, id: "old" }])).toBe(false);
  });

  test.each([undefined, "", "~~~", "1.old.abc", `1.old.${"0".repeat(64)}`, "x".repeat(5_000)])(
    "is invalid when it is %j, and can be replaced",
    (text) => {
      expect(isKnown(text, "ann")).toBe(false);
      expect(isKnown(valueFor("ann", text), "ann")).toBe(true);
    },
  );
});
