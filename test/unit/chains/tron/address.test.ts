import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase58check, encodeBase58check } from "../../../../src/chains/encodings/address-text.ts";
import { parseTronAddress } from "../../../../src/chains/tron/address.ts";
import { BASE58, mutationOf } from "../../../support/mutations.ts";
import { network } from "../../../support/named-network.ts";
import { RUNS } from "../../../support/property-runs.ts";

const TRX = network("TRX");
const addressOf = (account: Uint8Array, prefix = 0x41) => encodeBase58check(Uint8Array.of(prefix, ...account));
const accounts = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .filter((bytes) => bytes.slice(0, 16).some((byte) => byte > 0));
const reasonOf = (text: string) => {
  const parsed = parseTronAddress(TRX, text);
  return parsed.ok ? `accepted as ${parsed.value}` : parsed.error.reason;
};

describe("a TRON address", () => {
  test("is accepted unchanged on the main and Nile networks, even with ASCII spaces around it", () => {
    fc.assert(
      fc.property(accounts, (account) => {
        const address = addressOf(account);
        expect(parseTronAddress(TRX, address)).toEqual({ ok: true, value: address });
        expect(parseTronAddress(network("TRX_NILE"), ` ${address} `)).toEqual({ ok: true, value: address });
      }),
      { numRuns: RUNS },
    );
  });

  test("is refused when any one character is changed", () => {
    const mutated = accounts.map((account) => addressOf(account)).chain((text) => mutationOf(text, BASE58));
    fc.assert(
      fc.property(mutated, (text) => {
        expect(parseTronAddress(TRX, text).ok).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  test("of a known contract decodes to the account that explorers show", () => {
    const payload = decodeBase58check("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t") ?? new Uint8Array();
    expect(Buffer.from(payload).toString("hex")).toBe("41a614f803b6fd780986a42c78ec9c7f77e6ded13c");
  });
});

describe("a refusal says what the text looks like", () => {
  const some = new Uint8Array(20).fill(7);
  test.each([
    ["T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", /zero address/],
    [addressOf(Uint8Array.of(...new Uint8Array(19), 1)), /precompiled/],
    [addressOf(some, 0xa0), /TRON's old test network/],
    [addressOf(some, 0x00), /^this is a Bitcoin address$/],
    [`41${"ab".repeat(20)}`, /hexadecimal form/],
    [`0x41${"ab".repeat(20)}`, /hexadecimal form/],
    [`0x${"ab".repeat(20)}`, /looks like an EVM address/],
    ["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", /contract of a token/],
    ["TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8", /contract of a token/],
    ["TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy", /burn address/],
    ["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u", /checksum fails/],
    [`tron:${addressOf(some)}`, /payment link/],
    [encodeBase58check(Uint8Array.of(0x41, ...some, 1)), /^not a valid TRON address$/],
    ["", /empty/],
  ] as const)("%s", (text, reason) => {
    expect(reasonOf(text)).toMatch(reason);
  });
});
