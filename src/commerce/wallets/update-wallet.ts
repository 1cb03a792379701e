import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { changeWallet, type WalletDependencies } from "./change-wallet.ts";
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
  deps: WalletDependencies,
  of: Parameters<typeof changeWallet>[1] & { readonly changeDelayHours: number },
  settings: WalletSettings,
): Promise<Result<Wallet, Failure>> {
  return changeWallet(deps, of, async (read) => {
    if (!isWalletIntact(deps.body.macKeys, read)) return err({ code: "WALLET_FROZEN" });
    const { isEnabled = read.isEnabled, requiredConfirmations = read.requiredConfirmations } = settings;
    if (isEnabled === read.isEnabled && requiredConfirmations === read.requiredConfirmations) return ok(undefined);
    const isReopened = isEnabled && !read.isEnabled;
    const delayHours = isReopened ? of.changeDelayHours : 0;
    const usableFromMs = usableFrom({ nowMs: deps.nowMs, delayHours, beforeMs: read.usableFromMs });
    const columns = { isEnabled, requiredConfirmations, usableFromMs, updatedAtMs: deps.nowMs };
    const { id: walletId, merchantId } = read;
    return ok({
      action: "wallet.updated",
      wallet: { ...read, ...columns },
      statements: [assertSettings(deps.db, read), updateLiveWallet(deps.db, { merchantId, walletId }, columns)],
    });
  });
}
