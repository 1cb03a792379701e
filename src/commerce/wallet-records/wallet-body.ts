// A wallet's row as a response (decisions 3). If the HMAC does not verify, neither address nor key is shown.
import { networkNamed } from "../../chains/registry/networks.ts";
import type { MerchantId, WalletId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";
import type { MacKeys } from "./row-mac.ts";
import { isWalletIntact, type Wallet, type WalletType } from "./wallet.ts";

/** Stable codes. They must reveal nothing about other merchants, so there is no code for a shared key or address. */
type WalletWarning =
  /** Fewer confirmations than the network's recommendation. */
  | "LOW_CONFIRMATIONS"
  /** No chain source is configured: payments are not seen. */
  | "NETWORK_NOT_WATCHED"
  /** The row's HMAC does not verify, or the wallet was frozen earlier: no invoice uses it. */
  | "INTEGRITY_CHECK_FAILED"
  /** Recently registered or enabled: no invoice uses it before `usableFrom`. */
  | "CHANGE_PENDING";

export interface WalletBody {
  readonly id: WalletId;
  readonly merchantId: MerchantId;
  readonly walletType: WalletType;
  readonly cryptocurrency: string;
  readonly network: string;
  readonly address: string | null;
  readonly xpub: string | null;
  readonly derivationPath: string | null;
  readonly requiredConfirmations: number;
  readonly isEnabled: boolean;
  readonly lastUsedIndex: number | null;
  readonly nextIndex: number | null;
  readonly gap: number | null;
  readonly scheme: Wallet["scheme"];
  readonly warnings: readonly WalletWarning[];
  /** Null if no delay applies now. */
  readonly usableFrom: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface WalletBodyContext {
  readonly macKeys: MacKeys;
  /** Canonical names of the networks that have a chain source. */
  readonly watchedNetworks: ReadonlySet<string>;
  readonly nowMs: number;
}

export function walletBodyOf(wallet: Wallet, context: WalletBodyContext): WalletBody {
  const isIntact = isWalletIntact(context.macKeys, wallet);
  return {
    id: wallet.id,
    merchantId: wallet.merchantId,
    walletType: wallet.walletType,
    cryptocurrency: wallet.cryptocurrency,
    network: wallet.network,
    address: isIntact ? wallet.address : null,
    xpub: isIntact ? wallet.xpub : null,
    derivationPath: wallet.derivationPath,
    requiredConfirmations: wallet.requiredConfirmations,
    isEnabled: wallet.isEnabled,
    lastUsedIndex: wallet.lastUsedIndex,
    nextIndex: wallet.nextIndex,
    gap: wallet.gap,
    scheme: wallet.scheme,
    warnings: warningsOf(wallet, isIntact, context),
    usableFrom: wallet.usableFromMs > context.nowMs ? isoTime(wallet.usableFromMs) : null,
    createdAt: isoTime(wallet.createdAtMs),
    updatedAt: isoTime(wallet.updatedAtMs),
  };
}

function warningsOf(wallet: Wallet, isIntact: boolean, context: WalletBodyContext): readonly WalletWarning[] {
  const warnings: WalletWarning[] = [];
  const recommended = networkNamed(wallet.network)?.recommendedConfirmations ?? 0;
  if (wallet.requiredConfirmations < recommended) warnings.push("LOW_CONFIRMATIONS");
  if (!context.watchedNetworks.has(wallet.network)) warnings.push("NETWORK_NOT_WATCHED");
  if (!isIntact) warnings.push("INTEGRITY_CHECK_FAILED");
  if (wallet.usableFromMs > context.nowMs) warnings.push("CHANGE_PENDING");
  return warnings;
}
