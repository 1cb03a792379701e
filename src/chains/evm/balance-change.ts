// What is left of a balance's growth when every transaction has explained its part: money that came by a contract or as a reward, which no
// list of transactions shows (chains.md 2).
import type { BlockRef, Transfer } from "../../payments/transfer.ts";
import type { RpcReceipt, RpcTransaction } from "./rpc-json.ts";
import { spelled } from "./token-log.ts";

/** By account, what transactions did to its balance; accounts that none touched are left out. */
export type Changes = ReadonlyMap<string, bigint>;

/** What the value and the fee of mined transactions did to the accounts. A reverted one costs its fee. */
export function explainedChanges(
  mined: readonly { readonly transaction: RpcTransaction; readonly receipt: RpcReceipt }[],
  accounts: ReadonlySet<string>,
): Changes {
  const changes = new Map<string, bigint>();
  const add = (account: string | null | undefined, units: bigint) => {
    if (account != null && accounts.has(account)) changes.set(account, (changes.get(account) ?? 0n) + units);
  };
  for (const { transaction, receipt } of mined) {
    const { from, to, value, gasPrice } = transaction;
    const moved = receipt.status ? value : 0n;
    // Cronos tells the price that was paid only of transactions of the newer kind.
    add(from, -moved - receipt.gasUsed * (receipt.effectiveGasPrice ?? gasPrice ?? 0n));
    add(to, moved);
  }
  return changes;
}

export interface Growth {
  readonly account: string;
  readonly before: bigint;
  readonly after: bigint;
  readonly explained: bigint;
}

/** Above zero where money came that nothing explains. What a contract spent meanwhile hides as much of it. */
export function unexplainedUnits({ before, after, explained }: Growth): bigint {
  return after - before - explained;
}

/**
 * For a person to look at: a rule credits none. There is no transaction to name, so block and account are its identity, which a later look at
 * the same block finds again.
 */
export function unexplainedTransfer(growth: Growth, block: BlockRef, cryptocurrency: string): Transfer {
  const { account, before, after, explained } = growth;
  const toAddress = spelled(account);
  return {
    cryptocurrency,
    txHash: block.hash,
    outputIndex: `balance:${toAddress}`,
    fromAddress: null,
    toAddress,
    amountUnits: unexplainedUnits(growth),
    block,
    spends: [],
    raw: JSON.stringify({ before: `${before}`, after: `${after}`, explained: `${explained}` }),
    isUnexplained: true,
  };
}
