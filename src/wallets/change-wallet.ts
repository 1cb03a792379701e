// Every change of a wallet that stands: read, decide, one batch with its event. What the decision rests on is asserted in that batch;
// whoever lost reads again and decides again, five times, then 503 (reliability.md 3).
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type MerchantId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { commitChange } from "../webhooks/commit-change.ts";
import type { EventType } from "../webhooks/event.ts";
import { insertEvent } from "../webhooks/store.ts";
import { selectLiveWallet } from "./store.ts";
import type { Wallet } from "./wallet.ts";
import { type WalletBodyContext, walletBodyOf } from "./wallet-body.ts";

const MAX_TRIES = 5;

export interface WalletEffects {
  readonly db: Db;
  readonly body: WalletBodyContext;
  readonly sleep: Sleep;
  readonly nowMs: number;
  newOperationId(): string;
}

export interface WalletChange {
  readonly event: EventType;
  /** The wallet as the event tells of it and the caller sees it. */
  readonly wallet: Wallet;
  /** Assertions first, so that nothing is written on facts that no longer hold. */
  readonly statements: readonly [BatchItem<"sqlite">, ...BatchItem<"sqlite">[]];
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
    const eventId = derivedId("evt", fx.newOperationId());
    const [first, ...more] = change.value.statements;
    const event = walletEvent(fx, change.value, eventId);
    const committed = await commitChange(fx, eventId, [first, ...more, event]);
    if (committed.kind === "stands") return ok(change.value.wallet);
    if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (committed.conflict.kind !== "assertion")
      throw new Error(`a change of a wallet met ${committed.conflict.table}`);
  }
  return err({ code: "CONTENTION" });
}

/** The event row of a change; its `data` holds the wallet as GET shows it. */
export function walletEvent(
  fx: Pick<WalletEffects, "db" | "body" | "nowMs">,
  of: { readonly event: EventType; readonly wallet: Wallet },
  id: ReturnType<typeof derivedId<"evt">>,
) {
  const { event, wallet } = of;
  return insertEvent(fx.db, {
    id,
    merchantId: wallet.merchantId,
    type: event,
    invoiceId: null,
    sequence: null,
    data: JSON.stringify({ walletId: wallet.id, wallet: walletBodyOf(wallet, fx.body) }),
    createdAtMs: fx.nowMs,
  });
}
