// Checks payments without an invoice that a user is to decide about, once their blocks are final: a source may have invented them. Each block is read
// again once, however many payments it has. One statement makes those payments final that the blocks still contain; the others are looked up like
// payments that have an invoice.
import type { ChainClient } from "../../../chains/sources/chain-client.ts";
import { effectKey, growthHeight, type Transfer } from "../../../chains/sources/transfer.ts";
import type { Payment } from "../../../commerce/payments/payment.ts";
import { ok } from "../../../lib/result.ts";
import { readWithRetry } from "../../../platform/db/retry.ts";
import { listOf } from "../../matching/store.ts";
import type { OpenPayment } from "../look-elsewhere.ts";
import { readBlock } from "../look-in-block.ts";
import { type Pass, type Step, stored, type WatchDependencies } from "../watch-pass.ts";
import { FINISHED_A_PASS } from "./read-due.ts";
import { type DueHeights, finishLoosePayments } from "./store.ts";

/** Whether the payment's block must show the payment before it becomes final. Growth is exempt, because it is in no list of transactions. */
export function isToProve({ tip, finalizedHeight }: Pass, payment: Payment): boolean {
  const { status, blockHeight, txHash, requiredConfirmations } = payment;
  if (status !== "UNMATCHED" || blockHeight === null || growthHeight(txHash) !== undefined) return false;
  return finalizedHeight !== null || blockHeight <= tip.height + 1 - requiredConfirmations;
}

/** `effectKey` of the payments that their blocks still contain. If a source refuses a block, none of its payments is included. */
export async function proveLoose(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  of: {
    readonly payments: readonly OpenPayment[];
    readonly heights: DueHeights & { readonly network: string };
    readonly untilMs: number;
  },
): Promise<Step<ReadonlySet<string>>> {
  const found: Transfer[] = [];
  for (const [hash, all] of Map.groupBy(
    of.payments.filter((each) => isToProve(pass, each)),
    ({ blockHash }) => blockHash,
  )) {
    const [{ blockHeight: height, blockTimeMs: timeMs } = { blockHeight: null, blockTimeMs: null }] = all;
    if (hash === null || height === null || timeMs === null || deps.nowMs() > of.untilMs) continue;
    const addresses = new Set(all.map(({ toAddress }) => toAddress));
    const read = await readBlock(pass, client, addresses, { height, hash, timeMs });
    if (read.ok) found.push(...(read.value ?? []));
  }
  if (found.length > 0) {
    const isByDepth = pass.finalizedHeight === null;
    const finished = { ...of.heights, isByDepth, nowMs: deps.nowMs(), list: listOf(found), limit: FINISHED_A_PASS };
    const done = stored(await readWithRetry(deps.sleep, async () => finishLoosePayments(deps.db, finished)));
    if (!done.ok) return done;
  }
  return ok(new Set(found.map(effectKey)));
}
