import { describe, expect, test } from "vitest";
import { checksumAddress, parseEvmAddress } from "../../../../src/chains/evm/address.ts";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { network } from "../../../support/named-network.ts";
import vectors from "../../../vectors/eip55.json" with { type: "json" };

const ETH = network("ETH");
const reasonOf = (text: string) => {
  const parsed = parseEvmAddress(ETH, text);
  return parsed.ok ? `accepted as ${parsed.value}` : parsed.error.reason;
};
const [GOOD = ""] = vectors.checksummed;

describe("under EIP-55,", () => {
  test.each(vectors.checksummed)("%s passes its own checksum", (address) => {
    expect(checksumAddress(address.slice(2))).toBe(address);
    expect(parseEvmAddress(ETH, address)).toEqual({ ok: true, value: address });
  });

  test("an address that is all in lower or all in upper case is stored with its checksum", () => {
    expect(parseEvmAddress(ETH, GOOD.toLowerCase())).toEqual({ ok: true, value: GOOD });
    expect(parseEvmAddress(ETH, ` 0x${GOOD.slice(2).toUpperCase()}\n`)).toEqual({ ok: true, value: GOOD });
  });

  test("any change to one letter's case is refused", () => {
    for (let i = 2; i < GOOD.length; i++) {
      const letter = GOOD.charAt(i);
      const turned = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      if (turned !== letter)
        expect(reasonOf(GOOD.slice(0, i) + turned + GOOD.slice(i + 1))).toMatch(/EIP-55 checksum fails/);
    }
  });
});

describe("a refusal says what the text looks like", () => {
  test.each([
    [`0X${GOOD.slice(2)}`, /0x, not 0X/],
    [GOOD.slice(2), /without 0x/],
    [GOOD.slice(0, -1), /40 hexadecimal digits/],
    [`${GOOD}0`, /40 hexadecimal digits/],
    [`${GOOD.slice(0, -1)}g`, /^not a valid Ethereum address$/],
    ["vitalik.eth", /looks like a name/],
    ["XE60HAMICDXSV5QXVJA7TJW47Q9CHWKJD", /ICAP/],
    [`0x${"0".repeat(40)}`, /zero address/],
    [`0x${"0".repeat(39)}1`, /precompiled/],
    [`0x${"0".repeat(37)}100`, /precompiled/],
    ["0x0000000000000000000000000000000000001010", /precompiled or system/],
    [`0x${"0".repeat(36)}dEaD`, /burn address/],
    [`0x${"f".repeat(40)}`, /burn address/],
    ["0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE", /burn address/],
    ["0xdAC17F958D2ee523a2206206994597C13D831ec7", /contract of a token/],
    ["0x2791bca1f2de4661ed88a30c99a7a9449aa84174", /contract of a token/],
    ["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", /^this is a TRON address; an address of Ethereum starts with 0x$/],
    ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", /^this is a Bitcoin address; an address of Ethereum starts with 0x$/],
    ["So11111111111111111111111111111111111111112", /^this looks like a Solana address; an address of Ethereum/],
    ["0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8", /contract of a token/],
    ["cro1w2kvwrzp23aq54n3amwav4yy4a9ahq2kz2wtmj", /Cronos POS/],
    [`41${GOOD.slice(2)}`, /TRON address in hexadecimal/],
    ["", /empty/],
    ["0x".repeat(5_000), /^not a valid Ethereum address$/],
  ] as const)("%s", (text, reason) => {
    expect(reasonOf(text)).toMatch(reason);
  });

  test("the token contract of any EVM network is refused on all of them, even in lower case", () => {
    const evm = NETWORKS.filter((each) => each.family === "evm");
    for (const { contract } of evm.flatMap((each) => each.assets)) {
      if (contract === null) continue;
      for (const each of evm) expect(parseEvmAddress(each, contract.toLowerCase()).ok).toBe(false);
    }
  });
});
