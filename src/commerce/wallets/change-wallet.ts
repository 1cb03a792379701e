// Every change of a stored wallet: one batch with its event and audit entry, then the mails.

import type { Seat } from "../../accounts/merchants/store.ts";
import { seatHeld } from "../../accounts/teams/check-seat.ts";
import type { MerchantId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import { type CommitDependencies, change, currentRow } from "../../platform/changes/change.ts";
import type { Statement } from "../../platform/db/batch.ts";
import type { Failure } from "../../platform/failures.ts";
import type { WalletAction } from "../wallet-alerts/alert.ts";
import { type NewsDependencies, recordNews, sendNews } from "../wallet-alerts/record-news.ts";
import { selectLiveWallet } from "./store.ts";
import type { Wallet } from "./wallet.ts";

export interface WalletDependencies extends NewsDependencies, CommitDependencies {
  /** Of the user who asked; undefined for a key and for the link of a mail. */
  readonly seat?: Seat | undefined;
}

export interface WalletChange {
  readonly action: Exclude<WalletAction, "wallet.created">;
  /** The wallet as the event tells of it and the caller sees it: as it was, where it is deleted. */
  readonly wallet: Wallet;
  /** Assertions first, so that nothing is written on facts that no longer hold. */
  readonly statements: readonly [Statement, ...Statement[]];
}

/** Answers the wallet to show. `decide` returns undefined where there is nothing to do. */
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
    const news = { action, before, after: action === "wallet.deleted" ? undefined : wallet };
    return ok({
      value: wallet,
      statements: [...seatHeld(deps, deps.seat), ...statements, ...recordNews(deps, news, operationId)],
      afterwards: (results) => sendNews(deps, news, results),
    });
  });
}
