// Looks up one transaction at once because a merchant names it. Its payments to the merchant's addresses are applied as in a pass, even if an
// address is no longer watched or the daily limit of unmatched rows excluded the transfer.

import type { Network } from "../../chains/registry/networks.ts";
import type { Lookup } from "../../chains/sources/chain-client.ts";
import { beginWatch } from "../../commerce/cursors/store.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import type { MerchantId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { StatementBudget } from "../../platform/db/statement-budget.ts";
import { isPaused, MAY_BE_THE_TRANSACTION } from "./look-for-claim.ts";
import { LOOK_STATEMENTS } from "./pass-budget.ts";
import { selectOwnAddresses } from "./store.ts";
import type { WatchDependencies } from "./watch-pass.ts";

/** PAYS_OTHERS: the transaction exists, and pays nothing to the merchant. NOT_STORED: our own storage failed. */
export type LookUpOutcome = "FOUND" | "PAYS_OTHERS" | "NOT_FOUND" | "UNAVAILABLE" | "NOT_STORED";

export interface NamedTransaction {
  readonly merchantId: MerchantId;
  /** In the form that `transactionHash` returns. */
  readonly txHash: string;
}

/** If a merchant has more addresses than this on a network, only payments to its wallets' shared addresses and the newest others are found. */
const MOST_ADDRESSES = 100_000;
/** Another lookup may write the same transfers at the same time; the stored rows are then read again, at most this many times. */
const MOST_TRIES = 4;

/** Safe to repeat. The lookup itself confirms nothing: it restarts a resting watch, and the next passes confirm the payment. */
export async function lookForMerchant(
  deps: WatchDependencies,
  network: Network,
  { merchantId, txHash }: NamedTransaction,
): Promise<LookUpOutcome> {
  if (await isPaused(deps, network)) return "UNAVAILABLE";
  const of = { network: network.name, merchantId, limit: MOST_ADDRESSES };
  const own = await readWithRetry(deps.sleep, async () => selectOwnAddresses(deps.db, of));
  if (!own.ok) return "NOT_STORED";
  const recipients = new Set(own.value.map(({ address }) => address));
  const looked = await askSources(deps, { txHash, recipients });
  if (looked === undefined) return "UNAVAILABLE";
  // Only networks with a mempool show 0 confirmations.
  if (looked.kind === "unknown" || looked.kind === "replaced") return "NOT_FOUND";
  if (looked.kind === "pending" && network.family !== "bitcoin") return "NOT_FOUND";
  const { transfers } = looked;
  if (transfers.length === 0) return "PAYS_OTHERS";
  const heights = { tipHeight: looked.kind === "mined" ? looked.block.height - 1 : 0, finalizedHeight: null };
  const budget = new StatementBudget(deps.db.meter, LOOK_STATEMENTS);
  const found = { network, heights, hasSecond: deps.pool.hasSecond(), transfers, seen: [], askedBy: merchantId };
  // A lookup only adds payments. It never undoes one, which may be another merchant's.
  const findings = { ...found, isHearsay: true, budget };
  // Applied twice: the first time the rules may credit a transfer to another merchant at the address; the second time it is also kept for this
  // merchant.
  const isStored = (await applied(deps, findings)) && (await applied(deps, findings)) && (await watchOn(deps, network));
  return isStored ? "FOUND" : "NOT_STORED";
}

async function applied(deps: WatchDependencies, findings: Parameters<WatchDependencies["apply"]>[0]): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const done = await deps.apply(findings);
    // If a transaction has too many payments, only some are stored; a repeated request stores the rest.
    if (done.ok) return done.value.leftFrom === undefined;
    if (done.error.code !== "CONTENTION") return false;
  }
  return false;
}

interface Asked {
  readonly txHash: string;
  readonly recipients: ReadonlySet<string>;
}

/** Undefined if no source gave a usable answer. An empty answer is no proof, so another source is asked before a transaction counts as unknown. */
async function askSources(deps: WatchDependencies, asked: Asked): Promise<Lookup | undefined> {
  const found = await deps.pool.attempt(deps.nowMs(), (client) => lookIn(client, asked));
  if (!found.ok) return undefined;
  const { value: first, client } = found.value;
  if ((first !== undefined && first.kind !== "unknown") || !deps.pool.hasSecond()) return first;
  const other = await deps.pool.attemptWithout(client, deps.nowMs(), (second) => lookIn(second, asked));
  return other.ok ? other.value.value : undefined;
}

/** Undefined if the transaction itself may be unreadable, or if its block is not on the source's chain: neither counts as a failure of the source. */
async function lookIn(
  client: Parameters<Parameters<WatchDependencies["pool"]["attempt"]>[1]>[0],
  asked: Asked,
): Promise<Result<Lookup | undefined, Outage>> {
  const looked = await client.lookup({ ...asked, spends: [] });
  if (!looked.ok) return MAY_BE_THE_TRANSACTION.has(looked.error.kind) ? ok(undefined) : looked;
  if (looked.value.kind !== "mined") return looked;
  // The cursor's hash link does not prove a block from long ago, and one URL may serve nodes on two branches.
  const { height, hash } = looked.value.block;
  const blockNow = await client.block(height);
  if (!blockNow.ok) return blockNow;
  return ok(blockNow.value?.hash === hash ? looked.value : undefined);
}

/** The stored payment must be confirmed, so the watch starts again even if the network rests. */
async function watchOn(deps: WatchDependencies, { name }: Network): Promise<boolean> {
  const begun = await readWithRetry(deps.sleep, async () => beginWatch(deps.db, name, deps.nowMs()));
  return begun.ok;
}
