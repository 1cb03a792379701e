// The payout address or key of a new wallet: the checks between a well-formed request and a row (Interface 4.1, decisions 2 and 3).
import { parseAddress } from "../../chains/dispatch/address.ts";
import { assetOn, type Network, networkNamed } from "../../chains/registry/networks.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { type ExtendedKey, parseExtendedKey } from "./extended-key.ts";

/** A registration request; names in upper or lower case. */
export type NewWallet = {
  readonly cryptocurrency: string;
  readonly network: string;
  readonly requiredConfirmations: number;
  readonly isEnabled: boolean;
} & (
  | { readonly walletType: "DIRECT_WALLET"; readonly address: string }
  | { readonly walletType: "XPUB_WALLET"; readonly xpub: string; readonly derivationPath: string }
);

interface CanonicalPair {
  readonly network: Network;
  /** Upper-case code of the asset. */
  readonly cryptocurrency: string;
}

/** A pair, with either a direct wallet's address in canonical form or an account's key. */
export type PayoutTarget = CanonicalPair &
  ({ readonly address: string; readonly key: null } | { readonly address: null; readonly key: ExtendedKey });

/** Network and asset as the registry spells them; undefined for a pair that is not supported. */
export function canonicalPair(named: {
  readonly cryptocurrency: string;
  readonly network: string;
}): CanonicalPair | undefined {
  const network = networkNamed(named.network);
  const asset = network === undefined ? undefined : assetOn(network, named.cryptocurrency);
  return network === undefined || asset === undefined ? undefined : { network, cryptocurrency: asset.code };
}

/**
 * `hasRegtest`: whether the deployment serves a private chain of that name. Fails with UNSUPPORTED_PAIR, XPUB_NOT_SUPPORTED,
 * INVALID_ADDRESS, INVALID_XPUB, DERIVATION_PATH_MISMATCH or PRIVATE_KEY_REFUSED; no refusal repeats the address or the key.
 */
export function payoutTarget(
  wanted: NewWallet,
  hasRegtest: (network: string) => boolean,
): Result<PayoutTarget, Failure> {
  const pair = canonicalPair(wanted);
  if (pair === undefined || (pair.network.isRegtest && !hasRegtest(pair.network.name))) {
    return err({ code: "UNSUPPORTED_PAIR", cryptocurrency: wanted.cryptocurrency, network: wanted.network });
  }
  const { network } = pair;
  if (wanted.walletType === "DIRECT_WALLET") {
    const address = parseAddress(network, wanted.address);
    return address.ok
      ? ok({ ...pair, address: address.value, key: null })
      : err({ code: "INVALID_ADDRESS", reason: address.error.reason });
  }
  if (network.utxo === null) return err({ code: "XPUB_NOT_SUPPORTED", network: network.name });
  const { xpub, derivationPath } = wanted;
  const key = parseExtendedKey({ network, xpub, derivationPath });
  if (key.ok) return ok({ ...pair, address: null, key: key.value });
  const { code, reason } = key.error;
  return err(code === "PRIVATE_KEY_REFUSED" ? { code } : { code, reason });
}
