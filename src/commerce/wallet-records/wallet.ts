import type { MerchantId, WalletId } from "../../lib/ids.ts";
import { HOUR_MS } from "../../lib/time.ts";
import { isRowIntact, type MacKeys, type MacSubject } from "./row-mac.ts";

export type WalletType = "DIRECT_WALLET" | "XPUB_WALLET";

/** A receiving wallet. The table has exactly these columns. */
export interface Wallet {
  readonly id: WalletId;
  readonly merchantId: MerchantId;
  readonly walletType: WalletType;
  readonly cryptocurrency: string;
  readonly network: string;
  readonly address: string | null;
  readonly xpub: string | null;
  readonly derivationPath: string | null;
  readonly scheme: "BIP44" | "BIP49" | "BIP84" | null;
  readonly keyHash: string | null;
  readonly requiredConfirmations: number;
  readonly isEnabled: boolean;
  readonly lastUsedIndex: number | null;
  readonly nextIndex: number | null;
  readonly gap: number | null;
  readonly mac: string;
  readonly macKeyId: string;
  readonly frozenAtMs: number | null;
  /** New invoices use the wallet from this time on; 0 if no delay was set (`walletChangeDelayHours`). */
  readonly usableFromMs: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly deletedAtMs: number | null;
}

/** Wallet software commonly stops scanning after 20 unused addresses; the warning comes earlier (decisions 3). */
export const GAP_WARNING_AT = 15;

/** Whether the merchant's settings let new invoices use the wallet: it is enabled, and its delay is over. */
export function isWalletOpen(wallet: Pick<Wallet, "isEnabled" | "usableFromMs">, nowMs: number): boolean {
  return wallet.isEnabled && wallet.usableFromMs <= nowMs;
}

/**
 * When a wallet that is being registered or enabled becomes usable. Never earlier than the time announced before; without a delay the time is
 * unchanged.
 */
export function usableFrom(of: {
  readonly nowMs: number;
  readonly delayHours: number;
  readonly beforeMs: number;
}): number {
  return of.delayHours === 0 ? of.beforeMs : Math.max(of.beforeMs, of.nowMs + of.delayHours * HOUR_MS);
}

/** What the wallet's HMAC covers: the address of a direct wallet, the key of an xpub wallet. */
export function walletMacSubject(
  wallet: Pick<Wallet, "id" | "merchantId" | "network" | "cryptocurrency" | "address" | "xpub">,
): MacSubject {
  const { id, merchantId, network, cryptocurrency } = wallet;
  return { kind: "wallet", row: id, merchantId, network, cryptocurrency, target: wallet.address ?? wallet.xpub ?? "" };
}

/** Whether the wallet may be shown and used: it was never frozen, and its row is unaltered. */
export function isWalletIntact(keys: MacKeys, wallet: Wallet): boolean {
  return wallet.frozenAtMs === null && isRowIntact(keys, walletMacSubject(wallet), wallet);
}
