import { err, ok, type Result } from "../../lib/result.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import {
  assertWalletLive,
  assertWalletNotTied,
  selectTiedInvoices,
  updateLiveWallet,
} from "../wallet-records/store.ts";
import type { Wallet } from "../wallet-records/wallet.ts";
import { changeWallet, type WalletDependencies } from "./change-wallet.ts";

/** The maximum number of blocking invoices that the refusal lists. */
const MOST_NAMED = 10;

/**
 * Soft delete, unless an active invoice is tied to the wallet (Interface 4.3). Returns the wallet in its state before the deletion. A deletion and a
 * concurrent activation by an invoice are batches on one database: the later one sees the earlier one and is refused. A frozen wallet can be deleted,
 * so that its pair can be registered again.
 */
export async function deleteWallet(
  deps: WalletDependencies,
  of: Parameters<typeof changeWallet>[1],
): Promise<Result<Wallet, Failure>> {
  return changeWallet(deps, of, async (read) => {
    const tied = await readWithRetry(deps.sleep, async () => selectTiedInvoices(deps.db, read, MOST_NAMED));
    if (!tied.ok) return tied;
    const invoiceIds = [...new Set(tied.value.map(({ id }) => id))];
    if (invoiceIds.length > 0) return err({ code: "WALLET_HAS_ACTIVE_PAYMENTS", invoiceIds });
    const { id: walletId, merchantId } = read;
    const columns = { deletedAtMs: deps.nowMs, updatedAtMs: deps.nowMs };
    return ok({
      action: "wallet.deleted",
      wallet: read,
      statements: [
        assertWalletLive(deps.db, walletId),
        assertWalletNotTied(deps.db, read),
        updateLiveWallet(deps.db, { merchantId, walletId }, columns),
      ],
    });
  });
}
