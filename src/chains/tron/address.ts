// TRON addresses: base58check of 21 bytes, 0x41 and the last 20 bytes of the key's keccak-256. The Nile test network uses the same form, so an
// address does not show to which of the two networks it belongs.
import { err, ok, type Result } from "../../lib/result.ts";
import { decodeBase58check, trimSpaces, whatItLooksLike } from "../encodings/address-text.ts";
import { NETWORKS, type Network } from "../registry/networks.ts";

const PREFIX = 0x41;

/** The account, created in TRON's first block, to which burnt coins are sent. */
const BLACK_HOLE = "TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy";

/** The old USDC contract, which is not in the registry. */
const OTHER_CONTRACTS: readonly string[] = ["TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8"];

const TOKEN_CONTRACTS: readonly string[] = NETWORKS.filter((network) => network.family === "tron")
  .flatMap((network) => network.assets)
  .flatMap((asset) => (asset.contract === null ? [] : [asset.contract]))
  .concat(OTHER_CONTRACTS);

/** The address as given (it has only one form), or the reason why the text is not a receiving address. The reason never repeats the text. */
export function parseTronAddress(network: Network, text: string): Result<string, { readonly reason: string }> {
  const address = trimSpaces(text);
  const payload = decodeBase58check(address);
  if (payload?.length !== 21 || payload[0] !== PREFIX) {
    return err({ reason: whatItLooksLike(address) ?? `not a valid ${network.displayName} address` });
  }
  const problem = recipientProblem(address, payload.subarray(1));
  return problem === undefined ? ok(address) : err({ reason: problem });
}

function recipientProblem(address: string, account: Uint8Array): string | undefined {
  if (account.every((byte) => byte === 0)) return "this is the zero address";
  // TRON's precompiled contracts are at the low addresses, up to 0x0200_0001.
  if (account.subarray(0, 16).every((byte) => byte === 0)) return "this is the address of a precompiled contract";
  if (address === BLACK_HOLE) return "this is a burn address, which nobody can spend from";
  if (TOKEN_CONTRACTS.includes(address)) return "this is the contract of a token, not a receiving address";
  return undefined;
}
