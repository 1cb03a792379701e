import { derivedId } from "../../lib/ids.ts";
import { logAlert } from "../../lib/log.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { MacKeys } from "../wallet-records/row-mac.ts";
import { freezeWallet, selectWalletsById } from "../wallet-records/store.ts";
import { isWalletIntact, type Wallet } from "../wallet-records/wallet.ts";

/**
 * Whether it is certain that someone other than Edgetill changed the row. An HMAC with a key id that is not configured hides the wallet too, but
 * proves nothing: an operator who removed a key too early can restore it, and the wallets are shown again.
 */
export function isAltered(macKeys: MacKeys, wallet: Wallet): boolean {
  const isKeyKnown = macKeys.some((key) => key.id === wallet.macKeyId);
  return wallet.frozenAtMs === null && isKeyKnown && !isWalletIntact(macKeys, wallet);
}

interface FreezeDependencies {
  readonly db: Db;
  readonly macKeys: MacKeys;
  readonly nowMs: number;
  newOperationId(): string;
}

/** Reads the wallets again and freezes those that were altered. */
export async function freezeWallets(deps: FreezeDependencies, ids: readonly string[]): Promise<void> {
  await freezeAltered(deps, await selectWalletsById(deps.db, ids));
}

/** Permanently freezes the wallets that were altered in the database. May fail without harm: the next read finds them again. */
export async function freezeAltered(deps: FreezeDependencies, wallets: readonly Wallet[]): Promise<void> {
  for (const wallet of wallets) {
    if (!isAltered(deps.macKeys, wallet)) continue;
    logAlert("a wallet was altered in the database and is now frozen", { walletId: wallet.id });
    const auditId = derivedId("aud", deps.newOperationId());
    await batch(deps.db, freezeWallet(deps.db, wallet, { auditId, nowMs: deps.nowMs }));
  }
}
