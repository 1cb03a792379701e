import { derivedId } from "../../lib/ids.ts";
import { logAlert } from "../../lib/log.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { MacKeys } from "./row-mac.ts";
import { freezeWallet } from "./store.ts";
import { isWalletIntact, type Wallet } from "./wallet.ts";

/**
 * Whether the row is certainly not as Edgetill wrote it. An HMAC by a key that is not configured hides the wallet too, but proves nothing: an
 * operator who took a key away too early can put it back, and the wallets are as they were.
 */
export function isAltered(macKeys: MacKeys, wallet: Wallet): boolean {
  const isKeyKnown = macKeys.some((key) => key.id === wallet.macKeyId);
  return wallet.frozenAtMs === null && isKeyKnown && !isWalletIntact(macKeys, wallet);
}

/** Freezes those of the wallets that were altered in the database, for good. May be lost: the next read finds them again. */
export async function freezeAltered(
  deps: { readonly db: Db; readonly macKeys: MacKeys; readonly nowMs: number; newOperationId(): string },
  wallets: readonly Wallet[],
): Promise<void> {
  for (const wallet of wallets) {
    if (!isAltered(deps.macKeys, wallet)) continue;
    logAlert("wallet altered in the database, frozen", { walletId: wallet.id });
    const auditId = derivedId("aud", deps.newOperationId());
    await batch(deps.db, freezeWallet(deps.db, wallet, { auditId, nowMs: deps.nowMs }));
  }
}
