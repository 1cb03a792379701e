// Contracts for tests on a real EVM chain (contracts/*.sol). Their code can be put at any address, so a token has its mainnet address and the
// product's own token list is used unchanged.
import { type Abi, encodeFunctionData, parseAbi } from "viem";
import type { Anvil, Hex, Receipt } from "./anvil.ts";
import artifacts from "./contracts/artifacts.json" with { type: "json" };

type ContractName = keyof typeof artifacts;

/** Every function of every contract; no name is overloaded. */
const ABI = parseAbi([
  "function mint(address to, uint256 value)",
  "function approve(address spender, uint256 value)",
  "function transfer(address to, uint256 value)",
  "function transferFrom(address from, address to, uint256 value)",
  "function setFee(uint256 basisPoints, address collector)",
  "function spoof(address from, address to, uint256 value)",
  "function spoofLong(address from, address to, uint256 value)",
  "function forward(address to)",
  "function split(address[] to)",
  "function revertAfter(address to)",
  "function payTokens(address token, address[] to, uint256 value)",
  "function destroy(address to)",
  "function payByMiner(uint256 digit, (address token, address to, uint256 value)[][] effects)",
  "function moved(address from, address to, uint256 amount)",
]);

/** The address of Multicall3 on the real chains. */
export const MULTICALL: Hex = "0xcA11bde05977b3631167028862bE2a173976CA11";
/** The address where Polygon exposes its native coin as a token. */
export const POLYGON_COIN: Hex = "0x0000000000000000000000000000000000001010";

/** Encodes call data: `dataOf("transfer", to, 5n)`. */
export function dataOf(functionName: (typeof ABI)[number]["name"], ...args: readonly unknown[]): Hex {
  const abi: Abi = ABI;
  return encodeFunctionData({ abi, functionName, args });
}

/** Puts a contract's code at an address; keeps the storage there. */
export async function install(anvil: Anvil, name: ContractName, address: string): Promise<void> {
  await anvil.rpc("anvil_setCode", address, artifacts[name]);
}

export interface Token {
  readonly contract: Hex;
  /** Makes a transfer and mines it in a block. */
  pay(of: { readonly from?: Hex; readonly to: string; readonly units: bigint }): Promise<Receipt>;
}

/** Puts a token at its mainnet address; each of anvil's accounts holds 10^30 base units. Mines one block. */
export async function installToken(
  anvil: Anvil,
  contract: string,
  name: "PlainToken" | "TetherLike" = "PlainToken",
): Promise<Token> {
  const address: Hex = `0x${contract.slice(2)}`;
  await install(anvil, name, address);
  await anvil.together(anvil.accounts.map((to) => ({ to: address, data: dataOf("mint", to, 10n ** 30n) })));
  return {
    contract: address,
    pay: ({ to, units, ...of }) => anvil.execute({ ...of, to: address, data: dataOf("transfer", to, units) }),
  };
}
