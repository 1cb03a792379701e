// Addresses of EVM chains: 0x and 40 hexadecimal digits, all lower, all upper, or with an exact EIP-55 checksum.
import type { Hex } from "viem";
import { getAddress, isHex } from "viem/utils";
import { err, ok, type Result } from "../../lib/result.ts";
import { trimSpaces, whatItLooksLike } from "../encodings/address-text.ts";
import { NETWORKS, type Network } from "../registry/networks.ts";

/** Below this number the EVM chains keep precompiles and system contracts (Polygon's 0x1010, BNB's from 0x1000 on). */
const FIRST_ORDINARY = 0x10000n;

/** Burn addresses, and the placeholders that exchanges write for "the native coin": nobody has a key to them. */
const UNSPENDABLE: readonly string[] = [
  "000000000000000000000000000000000000dead",
  "dead000000000000000000000000000000000000",
  "dead000000000000000042069420694206942069",
  "deaddeaddeaddeaddeaddeaddeaddeaddeaddead",
  "ffffffffffffffffffffffffffffffffffffffff",
  "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
];

/**
 * Well-known contracts that users paste by mistake and that the registry does not list: bridged USDC on Polygon, Cronos, Base, Arbitrum and Optimism.
 */
const OTHER_CONTRACTS: readonly string[] = [
  "2791bca1f2de4661ed88a30c99a7a9449aa84174",
  "c21223249ca28397b4b6541dffaecc539bff0c59",
  "d9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca",
  "ff970a61a04b1ca14834a43f5de4533ebddb5cc8",
  "7f5c764cbc14f9669b88837ca1490cca17c31607",
];

const TOKEN_CONTRACTS: readonly string[] = NETWORKS.filter((network) => network.family === "evm")
  .flatMap((network) => network.assets)
  .flatMap((asset) => (asset.contract === null ? [] : [asset.contract.slice(2).toLowerCase()]))
  .concat(OTHER_CONTRACTS);

/** The address with its EIP-55 checksum, or the reason why the text is not a receiving address; the reason never repeats the text. */
export function parseEvmAddress(network: Network, text: string): Result<string, { readonly reason: string }> {
  const address = trimSpaces(text);
  const [, digits] = /^0x([0-9a-fA-F]{40})$/.exec(address) ?? [];
  if (digits === undefined) {
    const isUpperPrefix = /^0X[0-9a-fA-F]{40}$/.test(address);
    const shape = isUpperPrefix ? "it must start with 0x, not 0X" : whatItLooksLike(address);
    const needed = shape?.endsWith(" address") ? `; an address of ${network.displayName} starts with 0x` : "";
    return err({ reason: shape === undefined ? `not a valid ${network.displayName} address` : shape + needed });
  }
  const checksummed = checksumAddress(digits);
  const hasOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (!hasOneCase && address !== checksummed) {
    return err({ reason: "its EIP-55 checksum fails: a character is wrong, or its upper and lower case were changed" });
  }
  const problem = recipientProblem(digits.toLowerCase());
  return problem === undefined ? ok(checksummed) : err({ reason: problem });
}

/** The EIP-55 form of 40 digits without 0x. Never call it with longer text, because the library caches every input. */
export function checksumAddress(digits: string): string {
  return getAddress(`0x${digits}`);
}

function recipientProblem(digits: string): string | undefined {
  if (/^0+$/.test(digits)) return "this is the zero address";
  if (UNSPENDABLE.includes(digits)) return "this is a burn address, which nobody can spend from";
  if (BigInt(`0x${digits}`) < FIRST_ORDINARY) return "this is the address of a precompiled or system contract";
  if (TOKEN_CONTRACTS.includes(digits)) return "this is the contract of a token, not a receiving address";
  return undefined;
}

/** The text as viem's type. For text that a schema or the registry has already checked. */
export function hexOf(text: string): Hex {
  if (!isHex(text)) throw new Error("the text is not hexadecimal");
  return text;
}
