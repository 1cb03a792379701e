// What is left of a balance's growth after the transactions explain their parts: money that came from a contract or as a reward, which no
// list of transactions shows.
import { type BlockRef, explainerMark, growthIdentity, type Transfer } from "../transfer.ts";
import type { RpcReceipt, RpcTransaction } from "./rpc-json.ts";
import { spelled } from "./token-log.ts";

/** What the transactions of a block, or of several, did to a balance. */
export interface Change {
  readonly units: bigint;
  /** The transactions that paid it, by `explainerMark`. */
  readonly paidBy: readonly string[];
}

const NO_CHANGE: Change = { units: 0n, paidBy: [] };

/** By account; accounts that no transaction touched are left out. */
export type Changes = ReadonlyMap<string, Change>;

/** What the value and the fee of mined transactions did to the accounts. A reverted one costs its fee. */
export function explainedChanges(
  mined: readonly { readonly transaction: RpcTransaction; readonly receipt: RpcReceipt }[],
  accounts: ReadonlySet<string>,
): Changes {
  const changes = new Map<string, Change>();
  const add = (account: string | null | undefined, units: bigint, paidBy: readonly string[] = []) => {
    if (account == null || !accounts.has(account)) return;
    changes.set(account, sumOf([changes.get(account) ?? NO_CHANGE, { units, paidBy }]));
  };
  for (const { transaction, receipt } of mined) {
    const { hash, from, to, value, gasPrice } = transaction;
    const moved = receipt.status ? value : 0n;
    // Cronos tells the price that was paid only of transactions of the newer kind.
    add(from, -moved - receipt.gasUsed * (receipt.effectiveGasPrice ?? gasPrice ?? 0n));
    add(to, moved, moved === 0n ? [] : [explainerMark(hash)]);
  }
  return changes;
}

/** Several changes of one account as one. */
export function sumOf(changes: readonly Change[]): Change {
  return {
    units: changes.reduce((sum, { units }) => sum + units, 0n),
    paidBy: changes.flatMap(({ paidBy }) => paidBy),
  };
}

/** A balance at the end of one block and of a later one, and what transactions between them explain. */
export interface BalanceMove {
  readonly account: string;
  readonly before: bigint;
  readonly after: bigint;
  readonly explained: Change;
}

/**
 * Above zero where unexplained money came in; below zero where unexplained money left, which only an account with code can do. Unseen money
 * that left hides the same amount that came in.
 */
export function unexplainedUnits({ before, after, explained }: BalanceMove): bigint {
  return after - before - explained.units;
}

/** The growth of one block as a transfer. */
export function growthTransfer(move: BalanceMove, block: BlockRef, cryptocurrency: string): Transfer {
  const { before, after, explained } = move;
  const toAddress = spelled(move.account);
  const amountUnits = unexplainedUnits(move);
  return {
    ...growthIdentity({ height: block.height, toAddress, units: amountUnits }),
    cryptocurrency,
    fromAddress: null,
    toAddress,
    amountUnits,
    block,
    spends: [],
    raw: JSON.stringify({
      kind: "balance",
      before: `${before}`,
      after: `${after}`,
      explained: `${explained.units}`,
    }),
    growth: { explainedBy: explained.paidBy },
  };
}
