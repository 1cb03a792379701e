import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ANSWERED_WITHIN_MS,
  newQuestionToken,
  readQuestionToken,
} from "../../../../src/accounts/applications/question-token.ts";
import type { Keyring } from "../../../../src/lib/keyring.ts";

const keyOf = (id: string, byte: number) => ({ id, secret: new Uint8Array(32).fill(byte) });
const KEYS: Keyring = [keyOf("a", 1)];
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));
const origins = fc.constantFrom("", "https://shop.example", "https://shop.example:8443", "http://localhost:3000");

describe("the token of an authorization page", () => {
  it("is valid for its own origin until it expires, even after a key rotation", () => {
    fc.assert(
      fc.property(
        origins,
        origins,
        fc.integer({ min: 0, max: 4e12 }),
        fc.integer({ min: -1e6, max: 4e6 }),
        (origin, other, nowMs, laterMs) => {
          const token = newQuestionToken({ keys: KEYS, origin, nowMs }, random);
          const isGood = origin === other && laterMs < ANSWERED_WITHIN_MS;
          for (const keys of [KEYS, [keyOf("b", 2), ...KEYS]] as const) {
            const read = readQuestionToken(
              { keys: [keys[0], ...keys.slice(1)], origin: other, nowMs: nowMs + laterMs },
              token,
            );
            expect(read !== undefined).toBe(isGood);
          }
          // No spaces and no HTML, because the token is embedded in the page's text.
          expect(token).toMatch(/^[\w.-]{1,128}$/);
        },
      ),
    );
  });

  it("is invalid under a different key, and if any character is changed", () => {
    const binding = { keys: KEYS, origin: "https://shop.example", nowMs: 1_800_000_000_000 };
    const token = newQuestionToken(binding, random);
    expect(readQuestionToken({ ...binding, keys: [keyOf("a", 3)] }, token)).toBeUndefined();
    for (let at = 0; at < token.length; at++) {
      const changed = `${token.slice(0, at)}${token[at] === "0" ? "1" : "0"}${token.slice(at + 1)}`;
      expect(readQuestionToken(binding, changed)).toBeUndefined();
    }
  });

  it("is different each time", () => {
    const binding = { keys: KEYS, origin: "", nowMs: 1 };
    const tokens = Array.from({ length: 100 }, () => newQuestionToken(binding, random));
    expect(new Set(tokens.map((token) => readQuestionToken({ ...binding }, token))).size).toBe(100);
  });
});
