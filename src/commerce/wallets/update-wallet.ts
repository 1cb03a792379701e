import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { assertSettings, updateLiveWallet } from "../wallet-records/store.ts";
import { isWalletIntact, usableFrom, type Wallet } from "../wallet-records/wallet.ts";
import { changeWallet, type WalletDependencies } from "./change-wallet.ts";

/** The fields of a PATCH (decisions 3); an absent field is left unchanged. */
interface WalletSettings {
  readonly isEnabled?: boolean | undefined;
  readonly requiredConfirmations?: number | undefined;
}

/**
 * Updates settings by compare and set: of two concurrent PATCHes, the second decides again on the result of the first, so that each response and each
 * event shows the wallet after its own PATCH. A concurrent allocation may change the wallet's counters without conflict. A PATCH that changes nothing
 * writes nothing. A frozen wallet refuses every PATCH; it can only be deleted.
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
