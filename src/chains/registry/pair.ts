// A coin on a network: what a wallet receives, and what an invoice can be paid with.
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { type Asset, assetOn, type Network, networkNamed } from "./networks.ts";

export interface Pair {
  readonly cryptocurrency: string;
  readonly network: string;
}

/** Network and asset of a supported pair; throws for any other, because the pair comes from a stored row. */
export function pairOf(pair: Pair): { readonly network: Network; readonly asset: Asset } {
  const network = networkNamed(pair.network);
  const asset = network === undefined ? undefined : assetOn(network, pair.cryptocurrency);
  if (network === undefined || asset === undefined)
    throw new Error(`unknown pair ${pair.cryptocurrency} on ${pair.network}`);
  return { network, asset };
}

/** Canonical spelling of the pairs in a request; refuses an unknown pair and duplicates. */
export function canonicalPairs(named: readonly Pair[]): Result<readonly Pair[], Failure> {
  const pairs: Pair[] = [];
  for (const [position, each] of named.entries()) {
    const network = networkNamed(each.network);
    const asset = network === undefined ? undefined : assetOn(network, each.cryptocurrency);
    if (network === undefined || asset === undefined) return err({ code: "UNSUPPORTED_PAIR", ...each });
    const pair = { cryptocurrency: asset.code, network: network.name };
    if (pairs.some((other) => isSamePair(other, pair))) {
      return err({
        code: "VALIDATION_FAILED",
        details: [{ path: `paymentMethods.${position}`, message: "is a duplicate: name each pair only once" }],
      });
    }
    pairs.push(pair);
  }
  return ok(pairs);
}

export function isSamePair(a: Pair, b: Pair): boolean {
  return a.cryptocurrency === b.cryptocurrency && a.network === b.network;
}

/** A pair as a key: `<cryptocurrency>_<network>`. */
export function pairKey(pair: Pair): string {
  return `${pair.cryptocurrency}_${pair.network}`;
}
