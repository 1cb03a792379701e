import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressOfHex, bareHash, hexOfAddress } from "../../../../src/chains/tron/tron-hex.ts";
import { RUNS } from "../../../support/property-runs.ts";

const USDT = ["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "a614f803b6fd780986a42c78ec9c7f77e6ded13c"] as const;
const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });

describe("in TRON's hexadecimal notation,", () => {
  test.each(["", "0x", "41"])(
    "an account with %j before its 20 bytes becomes the address that wallets show",
    (before) => {
      expect(addressOfHex(before + USDT[1])).toBe(USDT[0]);
      expect(addressOfHex(before + USDT[1].toUpperCase())).toBe(USDT[0]);
      expect(hexOfAddress(USDT[0])).toBe(USDT[1]);
    },
  );

  test("an address and its 20 bytes convert into each other, even if the bytes begin with 41", () => {
    fc.assert(
      fc.property(digits(40), (account) => {
        expect(hexOfAddress(addressOfHex(account) ?? "")).toBe(account);
        expect(addressOfHex(`41${account}`)).toBe(addressOfHex(account));
      }),
      { numRuns: RUNS },
    );
  });

  test.each(["", "0x", "41", USDT[1].slice(1), `${USDT[1]}0`, `42${USDT[1]}`, `0x41${USDT[1]}`, USDT[0]])(
    "%j is not an account in hexadecimal",
    (text) => {
      expect(addressOfHex(text)).toBeUndefined();
    },
  );

  test.each(["", USDT[1], "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u"])(
    "%j is not an address",
    (text) => {
      expect(hexOfAddress(text)).toBeUndefined();
    },
  );

  test("a hash of 64 digits is written in lower case without 0x, and any other text is not a hash", () => {
    const hash = "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc";
    for (const text of [hash, `0x${hash}`, `0X${hash.toUpperCase()}`]) expect(bareHash(text)).toBe(hash);
    for (const text of ["", "0x", hash.slice(1), `${hash}0`, `0x0x${hash}`, `z${hash.slice(1)}`])
      expect(bareHash(text)).toBeUndefined();
  });
});
