// The extended key of a stored wallet, taken from the row only after its HMAC was verified.
import { type Network, networkNamed } from "../../chains/registry/networks.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import type { MacKeys } from "../wallet-records/row-mac.ts";
import { isWalletIntact, type Wallet } from "../wallet-records/wallet.ts";
import { addressAt, receiveChain, receivePath } from "./derive-address.ts";
import { type ExtendedKey, parseExtendedKey } from "./extended-key.ts";

/** Indexes from here on are hardened; a public key cannot derive them (BIP32). */
const HARDENED = 2 ** 31;

interface StoredKey {
  readonly key: ExtendedKey;
  readonly network: Network;
}

/** Fails with WALLET_IS_NOT_XPUB for a wallet without a key, and WALLET_FROZEN for a row that was altered. */
export function storedKey(wallet: Wallet, macKeys: MacKeys): Result<StoredKey, Failure> {
  if (wallet.walletType !== "XPUB_WALLET") return err({ code: "WALLET_IS_NOT_XPUB" });
  const network = networkNamed(wallet.network);
  const { xpub, derivationPath } = wallet;
  if (!isWalletIntact(macKeys, wallet) || network === undefined || xpub === null || derivationPath === null) {
    return err({ code: "WALLET_FROZEN" });
  }
  // The HMAC does not cover the path. A path that does not match the key was altered too.
  const key = parseExtendedKey({ network, xpub, derivationPath });
  return key.ok ? ok({ key: key.value, network }) : err({ code: "WALLET_FROZEN" });
}

interface PreviewedAddress {
  readonly index: number;
  readonly address: string;
  /** Starts at the master key: `m/84'/0'/0'/0/5`. */
  readonly path: string;
}

/** Addresses `from` to `from + count - 1` as the allocator will derive them, without reserving them. Omits indexes past the last one. */
export function previewAddresses(
  wallet: Wallet,
  macKeys: MacKeys,
  range: { readonly from: number; readonly count: number },
): Result<readonly PreviewedAddress[], Failure> {
  const stored = storedKey(wallet, macKeys);
  if (!stored.ok) return stored;
  const { key, network } = stored.value;
  const chain = receiveChain(key, network);
  const count = Math.min(range.count, HARDENED - range.from);
  return ok(
    Array.from({ length: count }, (_, n) => {
      const index = range.from + n;
      return { index, address: addressAt(chain, index), path: receivePath(key, index) };
    }),
  );
}
