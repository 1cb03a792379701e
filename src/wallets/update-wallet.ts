import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { changeWallet, type WalletEffects } from "./change-wallet.ts";
import { assertSettings, updateLiveWallet } from "./store.ts";
import { isWalletIntact, usableFrom, type Wallet } from "./wallet.ts";

/** What a PATCH may say (decisions 3): absent keeps. */
export interface WalletSettings {
  readonly isEnabled?: boolean | undefined;
  readonly requiredConfirmations?: number | undefined;
}

/**
 * Settings are compared and set: of two PATCHes at once the second decides again on what the first left, so that each answer and each
 * event tells the wallet as it then was. Allocations move the wallet's counters meanwhile and disturb nothing. A PATCH that changes nothing
 * writes nothing. A frozen wallet takes none: all that is left is to delete it.
 */
export async function updateWallet(
  fx: WalletEffects,
  of: Parameters<typeof changeWallet>[1] & { readonly changeDelayHours: number },
  settings: WalletSettings,
): Promise<Result<Wallet, Failure>> {
  return changeWallet(fx, of, async (read) => {
    if (!isWalletIntact(fx.body.macKeys, read)) return err({ code: "WALLET_FROZEN" });
    const { isEnabled = read.isEnabled, requiredConfirmations = read.requiredConfirmations } = settings;
    if (isEnabled === read.isEnabled && requiredConfirmations === read.requiredConfirmations) return ok(undefined);
    const isReopened = isEnabled && !read.isEnabled;
    const delayHours = isReopened ? of.changeDelayHours : 0;
    const usableFromMs = usableFrom({ nowMs: fx.nowMs, delayHours, beforeMs: read.usableFromMs });
    const columns = { isEnabled, requiredConfirmations, usableFromMs, updatedAtMs: fx.nowMs };
    const { id: walletId, merchantId } = read;
    return ok({
      action: "wallet.updated",
      wallet: { ...read, ...columns },
      statements: [assertSettings(fx.db, read), updateLiveWallet(fx.db, { merchantId, walletId }, columns)],
    });
  });
}
