import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { changeWallet, type WalletEffects } from "./change-wallet.ts";
import { assertWalletLive, assertWalletNotTied, selectActiveTie, updateLiveWallet } from "./store.ts";
import type { Wallet } from "./wallet.ts";

/**
 * Deletes softly, unless an active invoice is tied to the wallet (Interface 4.3); answers the wallet as it was. An invoice that activates
 * the wallet meanwhile and this delete are both batches on one database: whichever comes second finds the other's fact and is refused.
 * A frozen wallet may be deleted: that is how its pair becomes free again.
 */
export async function deleteWallet(
  fx: WalletEffects,
  of: Parameters<typeof changeWallet>[1],
): Promise<Result<Wallet, Failure>> {
  return changeWallet(fx, of, async (read) => {
    const tie = await readWithRetry(fx.sleep, async () => selectActiveTie(fx.db, read));
    if (!tie.ok) return tie;
    if (tie.value[0]?.isTied === 1) return err({ code: "WALLET_HAS_ACTIVE_PAYMENTS" });
    const { id: walletId, merchantId } = read;
    const columns = { deletedAtMs: fx.nowMs, updatedAtMs: fx.nowMs };
    return ok({
      action: "wallet.deleted",
      wallet: read,
      statements: [
        assertWalletLive(fx.db, walletId),
        assertWalletNotTied(fx.db, read),
        updateLiveWallet(fx.db, { merchantId, walletId }, columns),
      ],
    });
  });
}
