// The part of a balance's growth that no transaction explains: money from a contract or a reward, which is in no list of transactions.
import { type BlockRef, explainerMark, growthIdentity, type Transfer } from "../sources/transfer.ts";
import type { RpcReceipt, RpcTransaction } from "./rpc-json.ts";
import { spelled } from "./token-log.ts";

/** The effect of the transactions of one or several blocks on a balance. */
interface Change {
  readonly units: bigint;
  /** The transactions that paid the account, by `explainerMark`. */
  readonly paidBy: readonly string[];
}

const NO_CHANGE: Change = { units: 0n, paidBy: [] };

/** By account; accounts that no transaction touched are left out. */
export type Changes = ReadonlyMap<string, Change>;

/**
 * The effect of mined transactions' values and fees on the accounts. A reverted transaction moves no value; its sender still pays the fee and keeps
 * what a deposit minted.
 */
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
    const { hash, from, to, value, mintedUnits = 0n } = transaction;
    const moved = receipt.status ? value : 0n;
    add(from, mintedUnits - moved - feeOf(transaction, receipt));
    add(to, moved, moved === 0n ? [] : [explainerMark(hash)]);
  }
  return changes;
}

/** The operator's fee follows the rules of the OP Stack since its Jovian upgrade. */
function feeOf({ gasPrice }: RpcTransaction, receipt: RpcReceipt): bigint {
  const { gasUsed, effectiveGasPrice, l1Fee, operatorFeeScalar, operatorFeeConstant } = receipt;
  // Cronos reports the effective price only for dynamic-fee transactions (EIP-1559).
  const gas = gasUsed * (effectiveGasPrice ?? gasPrice ?? 0n);
  return gas + (l1Fee ?? 0n) + gasUsed * (operatorFeeScalar ?? 0n) * 100n + (operatorFeeConstant ?? 0n);
}

/** Adds up several changes to one account. */
export function sumOf(changes: readonly Change[]): Change {
  return {
    units: changes.reduce((sum, { units }) => sum + units, 0n),
    paidBy: changes.flatMap(({ paidBy }) => paidBy),
  };
}

/** A balance after one block and after a later one, and the change that the transactions between them explain. */
export interface BalanceMove {
  readonly account: string;
  readonly before: bigint;
  readonly after: bigint;
  readonly explained: Change;
}

/**
 * Above zero if unexplained money came in; below zero if unexplained money left, which only happens to an account with code. Unexplained money that
 * left hides an equal amount that came in.
 */
export function unexplainedUnits({ before, after, explained }: BalanceMove): bigint {
  return after - before - explained.units;
}

/** The growth in one block as a transfer. */
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
