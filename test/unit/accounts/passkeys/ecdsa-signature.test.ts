import { generateKeyPairSync, sign, verify } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ecdsaSignatureOf } from "../../../../src/accounts/passkeys/ecdsa-signature.ts";
import { hexToBytes } from "../../../../src/lib/bytes.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { derOf } from "../../../support/software-authenticator.ts";

const raw = fc.uint8Array({ minLength: 64, maxLength: 64 });
/** Small numbers are included, because an integer may be shorter than its field. */
const numbers = fc.tuple(raw, fc.nat(31), fc.nat(31)).map(([bytes, r, s]) => bytes.fill(0, 0, r).fill(0, 32, 32 + s));

describe("the reader of DER-encoded ECDSA signatures", () => {
  test("returns r and s as they were encoded", () => {
    fc.assert(
      fc.property(numbers, (bytes) => {
        const read = ecdsaSignatureOf(derOf(bytes));
        expect([big(read?.r), big(read?.s)]).toEqual([big(bytes.subarray(0, 32)), big(bytes.subarray(32))]);
      }),
      { numRuns: RUNS },
    );
  });

  test("returns the r and s of a signature made by Node, which verify when concatenated", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    for (let i = 0; i < 200; i++) {
      const data = Buffer.from(String(i));
      const read = ecdsaSignatureOf(sign("sha256", data, { key: privateKey, dsaEncoding: "der" }));
      const sides = [read?.r, read?.s].map((side) => big(side).toString(16).padStart(64, "0")).join("");
      const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
      expect(verify("sha256", data, key, hexToBytes(sides))).toBe(true);
    }
  });

  test("accepts only one encoding: a changed, added or missing byte never gives the same numbers", () => {
    const other = fc.tuple(numbers, fc.nat(71), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(other, ([bytes, at, change]) => {
        const der = derOf(bytes);
        const altered = der.map((byte, i) => (i === at % der.length ? byte ^ change : byte));
        const read = ecdsaSignatureOf(altered);
        if (read !== undefined)
          expect([big(read.r), big(read.s)]).not.toEqual([big(bytes.subarray(0, 32)), big(bytes.subarray(32))]);
        expect(ecdsaSignatureOf(new Uint8Array([...der, 0]))).toBeUndefined();
        expect(ecdsaSignatureOf(der.subarray(0, at % der.length))).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });

  test.each([
    ["a length in the long form", "3081060201010201 01"],
    ["an indefinite length", "3080020101020101"],
    ["a negative number", "3006020181020101"],
    ["a superfluous leading zero byte", "300702020001020101"],
    ["an empty number", "30050200020101"],
    ["one number", "3003020101"],
    ["three numbers", "3009020101020101020101"],
    ["an octet string instead of an integer", "3006040101020101"],
    ["a set instead of a sequence", "3106020101020101"],
    ["a number that extends beyond the end", "3006020101020201"],
    ["empty input", ""],
  ])("refuses %s", (_, hex) => {
    expect(ecdsaSignatureOf(hexToBytes(hex.replaceAll(" ", "")))).toBeUndefined();
  });

  test("reads the smallest signature", () => {
    expect(ecdsaSignatureOf(hexToBytes("3006020101020102"))).toEqual({
      r: new Uint8Array([1]),
      s: new Uint8Array([2]),
    });
  });
});

function big(bytes: Uint8Array | undefined): bigint {
  return BigInt(`0x${Buffer.from(bytes ?? []).toString("hex") || "0"}`);
}
