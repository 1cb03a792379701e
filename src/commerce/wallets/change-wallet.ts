// Writes a change of a wallet's settings, or its deletion, as one batch with the event and audit entry, and sends the emails after the batch has
// committed.

import type { Seat } from "../../accounts/merchant-records/store.ts";
import { seatHeld } from "../../accounts/teams/check-seat.ts";
import type { MerchantId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import { type CommitDependencies, change, currentRow } from "../../platform/changes/change.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import type { WalletAction } from "../wallet-alerts/alert.ts";
import { type ReportDependencies, recordWalletChange, sendWalletMails } from "../wallet-alerts/record-wallet-change.ts";
import { selectLiveWallet } from "../wallet-records/store.ts";
import type { Wallet } from "../wallet-records/wallet.ts";

export interface WalletDependencies extends ReportDependencies, CommitDependencies {
  /** The seat of the user who makes the change; undefined for an API key and for the link in an email. */
  readonly seat?: Seat | undefined;
}

interface WalletChange {
  readonly action: Exclude<WalletAction, "wallet.created">;
  /** The wallet as the event and the response show it; for a deleted wallet its last state. */
  readonly wallet: Wallet;
  /** Assertions come first, so that nothing is written if the wallet has changed since it was read. */
  readonly statements: readonly [Write, ...Write[]];
}

/** Returns the wallet to show. `decide` returns undefined when there is nothing to change. */
export function changeWallet(
  deps: WalletDependencies,
  of: { readonly merchantId: MerchantId; readonly walletId: string; readonly read: Wallet | undefined },
  decide: (wallet: Wallet) => Promise<Result<WalletChange | undefined, Failure>>,
): Promise<Result<Wallet, Failure>> {
  const row = {
    read: of.read,
    again: () => selectLiveWallet(deps.db, of.merchantId, of.walletId),
    missing: { code: "WALLET_NOT_FOUND" },
  } as const;
  const subject = { name: "a change of a wallet", read: (tries: number) => currentRow(deps, row, tries) };
  return change(deps, subject, async (before, { operationId }) => {
    const decided = await decide(before);
    if (!decided.ok) return decided;
    if (decided.value === undefined) return ok({ value: before });
    const { action, wallet, statements } = decided.value;
    const reported = { action, before, after: action === "wallet.deleted" ? undefined : wallet };
    return ok({
      value: wallet,
      statements: [...seatHeld(deps, deps.seat), ...statements, ...recordWalletChange(deps, reported, operationId)],
      afterwards: (results) => sendWalletMails(deps, reported, results),
    });
  });
}
