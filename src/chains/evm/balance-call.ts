// Reads many balances in one call: Multicall3's `aggregate3` over its own `getEthBalance`, encoded and decoded by viem.
import {
  decodeFunctionResult,
  encodeFunctionData,
  encodeFunctionResult,
  type Hex,
  hexToBigInt,
  isHex,
  multicall3Abi,
  prepareEncodeFunctionData,
  size,
} from "viem";
import { lazily } from "../../lib/lazily.ts";
import { hexOf } from "./address.ts";

/** The address of Multicall3 on every chain that has it. */
export const MULTICALL = "0xca11bde05977b3631167028862be2a173976ca11";

/** Prepared once, so that the selector (a hash of the signature) is not computed again for each account. */
const getEthBalance = lazily(() => prepareEncodeFunctionData({ abi: multicall3Abi, functionName: "getEthBalance" }));

/** Call data that requests the balances of `accounts`, each as 0x and 40 digits. If one call fails, all fail. */
export function balancesCall(accounts: readonly string[]): string {
  const calls = accounts.map((account) => {
    const callData = encodeFunctionData({ ...getEthBalance(), args: [hexOf(account)] });
    return { target: MULTICALL, allowFailure: false, callData } as const;
  });
  return encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] });
}

/** The balances in the order of the accounts; undefined for an answer in a different format, such as from a chain without the contract. */
export function readBalances(answer: string, count: number): readonly bigint[] | undefined {
  const results = isHex(answer) ? resultsIn(answer) : undefined;
  if (results?.length !== count) return undefined;
  const isWhole = results.every(({ success, returnData }) => success && size(returnData) === 32);
  return isWhole ? results.map(({ returnData }) => hexToBigInt(returnData)) : undefined;
}

/** Accepts only the contract's own encoding: the library would also accept overlapping parts and trailing data. */
function resultsIn(data: Hex) {
  const of = { abi: multicall3Abi, functionName: "aggregate3" } as const;
  try {
    const result = decodeFunctionResult({ ...of, data });
    return encodeFunctionResult({ ...of, result }) === data ? result : undefined;
  } catch {
    return undefined;
  }
}
