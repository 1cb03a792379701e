// Every change of a wallet that stands: read, decide, one batch with its event and audit entry, then the mails. What the decision rests on
// is asserted in that batch; whoever lost reads again and decides again, five times, then 503 (reliability.md 3).
import type { BatchItem } from "drizzle-orm/batch";
import { readWithRetry } from "../db/retry.ts";
import { commitChange } from "../events/commit-change.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type MerchantId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Seat } from "../merchants/store.ts";
import { assertSeat } from "../teams/store.ts";
import type { WalletAction } from "../wallet-alerts/alert.ts";
import { type NewsEffects, recordNews, sendNews } from "../wallet-alerts/record-news.ts";
import { selectLiveWallet } from "./store.ts";
import type { Wallet } from "./wallet.ts";

const MAX_TRIES = 5;

export interface WalletEffects extends NewsEffects {
  readonly sleep: Sleep;
  /** Of the person who asked; none for a key and for the link of a mail. */
  readonly seat?: Seat | undefined;
  newOperationId(): string;
}

export interface WalletChange {
  readonly action: Exclude<WalletAction, "wallet.created">;
  /** The wallet as the event tells of it and the caller sees it: as it was, where it is deleted. */
  readonly wallet: Wallet;
  /** Assertions first, so that nothing is written on facts that no longer hold. */
  readonly statements: readonly [BatchItem<"sqlite">, ...BatchItem<"sqlite">[]];
}

/** Whoever lost their role or their place between asking and the batch changes no wallet. */
export function seatHeld(fx: Pick<WalletEffects, "db" | "seat">): readonly BatchItem<"sqlite">[] {
  return fx.seat === undefined ? [] : [assertSeat(fx.db, { ...fx.seat, id: fx.seat.memberId })];
}

/** `decide` is asked again with the wallet as it then stands; undefined means that there is nothing to do. Answers the wallet to show. */
export async function changeWallet(
  fx: WalletEffects,
  of: { readonly merchantId: MerchantId; readonly walletId: string; readonly read: Wallet | undefined },
  decide: (wallet: Wallet) => Promise<Result<WalletChange | undefined, Failure>>,
): Promise<Result<Wallet, Failure>> {
  let wallet = of.read;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) {
      const again = await readWithRetry(fx.sleep, async () => selectLiveWallet(fx.db, of.merchantId, of.walletId));
      if (!again.ok) return again;
      wallet = again.value[0];
    }
    if (wallet === undefined) return err({ code: "WALLET_NOT_FOUND" });
    const change = await decide(wallet);
    if (!change.ok) return change;
    if (change.value === undefined) return ok(wallet);
    const { action, wallet: shown, statements } = change.value;
    const news = { action, before: wallet, after: action === "wallet.deleted" ? undefined : shown };
    const operationId = fx.newOperationId();
    const told = recordNews(fx, news, operationId);
    const committed = await commitChange(fx, derivedId("evt", operationId), [...seatHeld(fx), ...statements, ...told]);
    if (committed.kind === "stands") {
      await sendNews(fx, news);
      return ok(shown);
    }
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (committed.conflict.kind !== "assertion")
      throw new Error(`a change of a wallet met ${committed.conflict.table}`);
  }
  return err({ code: "CONTENTION" });
}
