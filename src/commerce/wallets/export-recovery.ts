// The data with which a merchant can find every payment without us: descriptor, gap limit, and each address with its invoice (decisions 3). If other
// merchants use the same key, only the merchant's own addresses are listed, from all their wallets with it. Each row's HMAC is verified before its
// address is shown.

import type { MerchantId, WalletId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { isoTime } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { isRowIntact, type MacKeys } from "../wallet-records/row-mac.ts";
import { selectHandedOut, selectLongestRun, selectWalletsOfKey } from "../wallet-records/store.ts";
import type { Wallet } from "../wallet-records/wallet.ts";
import { receivePath } from "./derive-address.ts";
import { receiveDescriptor } from "./descriptor.ts";
import type { ExtendedKey } from "./extended-key.ts";
import { gapLimitFor, type RecoveredAddress, type RecoverySummary } from "./recovery-file.ts";
import { storedKey } from "./stored-key.ts";

/** 100,000 addresses take 50 queries; an invocation may make 1,000. */
const PAGE_SIZE = 2_000;

interface RecoveryDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly macKeys: MacKeys;
}

export interface Recovery {
  readonly summary: RecoverySummary;
  /** In index order. Throws if storage fails midway: a truncated export must not look complete. */
  readonly pages: AsyncGenerator<readonly RecoveredAddress[]>;
}

/** Fails with WALLET_IS_NOT_XPUB, WALLET_FROZEN, WALLET_NOT_FOUND or STORAGE_UNAVAILABLE. */
export async function exportRecovery(deps: RecoveryDependencies, wallet: Wallet): Promise<Result<Recovery, Failure>> {
  const stored = storedKey(wallet, deps.macKeys);
  if (!stored.ok) return stored;
  const { key, network } = stored.value;
  const { merchantId } = wallet;
  const nextIndex = wallet.nextIndex ?? 0;
  const own = await readWithRetry(deps.sleep, async () => selectWalletsOfKey(deps.db, merchantId, key.keyHash));
  if (!own.ok) return own;
  const walletIds = [...new Set([...own.value.map(({ id }) => id), wallet.id])];
  const runs = await readWithRetry(deps.sleep, async () =>
    selectLongestRun(deps.db, { walletId: wallet.id, walletIds, nextIndex }),
  );
  if (!runs.ok) return runs;
  const [run] = runs.value;
  if (run === undefined) return err({ code: "WALLET_NOT_FOUND" });
  const summary = { descriptor: receiveDescriptor(key, network), nextIndex, gapLimit: gapLimitFor(run.longestRun) };
  return ok({ summary, pages: handedOut(deps, { merchantId, walletIds, key }) });
}

async function* handedOut(
  deps: RecoveryDependencies,
  of: { readonly merchantId: MerchantId; readonly walletIds: readonly WalletId[]; readonly key: ExtendedKey },
): AsyncGenerator<readonly RecoveredAddress[]> {
  const { merchantId, walletIds, key } = of;
  for (const walletId of walletIds) {
    for (let afterIndex = -1; ; ) {
      const from = { merchantId, walletId, afterIndex, limit: PAGE_SIZE };
      const rows = await readWithRetry(deps.sleep, async () => selectHandedOut(deps.db, from));
      if (!rows.ok) throw new Error(`a recovery export failed after index ${afterIndex}`);
      yield rows.value.map((row) => recovered(deps.macKeys, key, row));
      const last = rows.value.at(-1);
      if (last === undefined || rows.value.length < PAGE_SIZE) break;
      afterIndex = last.index;
    }
  }
}

type HandedOut = Awaited<ReturnType<typeof selectHandedOut>>[number];

function recovered(macKeys: MacKeys, key: ExtendedKey, row: HandedOut): RecoveredAddress {
  const { invoiceId, merchantId, network, cryptocurrency, address, index } = row;
  const subject = {
    kind: "method",
    row: invoiceId,
    merchantId,
    network,
    cryptocurrency,
    target: address ?? "",
  } as const;
  return {
    index,
    address: isRowIntact(macKeys, subject, row) ? address : null,
    path: receivePath(key, index),
    invoiceId,
    createdAt: isoTime(row.activatedAtMs ?? 0),
  };
}
