import { encodeFunctionResult, type Hex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { balancesCall, readBalances } from "../../../../src/chains/evm/balance-call.ts";

const ABI = parseAbi([
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3() payable returns (Result[])",
]);
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const answerOf = (balances: readonly bigint[]) =>
  encodeFunctionResult({
    abi: ABI,
    functionName: "aggregate3",
    result: balances.map((value) => ({ success: true, returnData: word(value) })),
  });

describe("many balances in one call", () => {
  it("are encoded and decoded as the contract ABI specification says", () => {
    const callOf = (digits: string) => [
      word(0xca11bde05977b3631167028862be2a173976ca11n),
      word(0n), // allowFailure: false
      word(96n), // offset of the call data
      word(36n), // length of the call data: a selector and a word
      `0x4d2301cc${"0".repeat(24)}${digits.repeat(20)}${"0".repeat(56)}`,
    ];
    const asked = [
      word(32n), // offset of the array
      word(2n), // number of calls
      word(64n), // offset of the first call, counted after the length
      word(256n), // offset of the second call
      ...callOf("5a"),
      ...callOf("6b"),
    ];
    const accounts = [`0x${"5a".repeat(20)}`, `0x${"6b".repeat(20)}`];
    expect(balancesCall(accounts)).toBe(`0x82ad56cb${asked.map((each) => each.slice(2)).join("")}`);
    const resultOf = (balance: bigint) => [1n, 64n, 32n, balance];
    const answered = [32n, 2n, 64n, 192n, ...resultOf(7n), ...resultOf(2n ** 256n - 1n)].map((each) =>
      word(each).slice(2),
    );
    expect(readBalances(`0x${answered.join("")}`, 2)).toEqual([7n, 2n ** 256n - 1n]);
  });

  it("are undefined if the response is truncated, has the wrong length, or comes from a failed call or an address without a contract", () => {
    const whole = answerOf([5n, 6n]);
    const failed = encodeFunctionResult({
      abi: ABI,
      functionName: "aggregate3",
      result: [{ success: false, returnData: word(5n) }],
    });
    for (let end = 2; end < whole.length; end++) expect(readBalances(whole.slice(0, end), 2)).toBeUndefined();
    expect(readBalances(whole, 1)).toBeUndefined();
    expect(readBalances(whole, 3)).toBeUndefined();
    expect(readBalances(failed, 1)).toBeUndefined();
    expect(readBalances("0x", 1)).toBeUndefined();
    expect(readBalances(`0x${"f".repeat(12 * 64)}`, 2)).toBeUndefined();
    // Both accounts would get the first balance: the third word, which is the offset of the first tuple, is repeated as the fourth.
    const upTo = (words: number) => 2 + 64 * words;
    const twice = whole.slice(0, upTo(3)) + whole.slice(upTo(2), upTo(3)) + whole.slice(upTo(4));
    expect(readBalances(twice, 2)).toBeUndefined();
  });
});
