// Reads whole blocks, which is the only way to see payments in the native coin on a chain that does not log them.
import type { Outage } from "../../lib/fetch-text.ts";
import { outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { RpcEdge } from "../sources/json-rpc-client.ts";
import type { BlockRef, Transfer } from "../sources/transfer.ts";
import { type Changes, explainedChanges } from "./balance-change.ts";
import { byHash, fullBlocks } from "./batch-client.ts";
import { minedTransfers, valueMovement } from "./mined-transfers.ts";
import { type FullBlock, RpcReceipt, type RpcTransaction } from "./rpc-json.ts";
import type { Wanted } from "./token-log.ts";

interface BlockScan {
  readonly from: number;
  readonly to: BlockRef;
  readonly wanted: Wanted;
  /** Whether transactions that the recipients sent are read as well. */
  readonly isSpendingRead: boolean;
}

export interface ScannedBlock {
  readonly block: BlockRef;
  readonly transfers: readonly Transfer[];
  readonly changes: Changes;
}

/** Every block in the range, with the values that its transactions pay to the recipients. */
export async function scanBlocks(
  edge: RpcEdge,
  { from, to, wanted, isSpendingRead }: BlockScan,
): Promise<Result<readonly ScannedBlock[], Outage>> {
  const { recipients } = wanted;
  const isRead = (transaction: RpcTransaction) =>
    valueMovement(transaction, wanted) !== undefined || (isSpendingRead && recipients.has(transaction.from));
  const scanned: ScannedBlock[] = [];
  for await (const part of fullBlocks(edge, { from, to })) {
    if (!part.ok) return part;
    const ours = part.value.map(({ block, transactions }) => ({ block, transactions: transactions.filter(isRead) }));
    const hashes = ours.flatMap(({ transactions }) => transactions.map(({ hash }) => hash));
    const receipts = await byHash(edge, RpcReceipt, "eth_getTransactionReceipt", hashes);
    if (!receipts.ok) return receipts;
    for (const each of ours) {
      const read = scannedBlock(each, receipts.value, wanted);
      if (read === undefined) return err(outage("BEHIND", "the receipt names another block"));
      scanned.push(read);
    }
  }
  return ok(scanned);
}

function scannedBlock(
  { block, transactions }: Pick<FullBlock, "block" | "transactions">,
  receipts: ReadonlyMap<string, RpcReceipt>,
  wanted: Wanted,
): ScannedBlock | undefined {
  const mined: { transaction: RpcTransaction; receipt: RpcReceipt; block: BlockRef }[] = [];
  for (const transaction of transactions) {
    const receipt = receipts.get(transaction.hash);
    if (receipt?.blockHash !== block.hash) return undefined;
    mined.push({ transaction, receipt, block });
  }
  // Tokens are found by a separate scan.
  const native = { ...wanted, tokens: new Map<string, string>() };
  const transfers = mined.flatMap((each) => minedTransfers(each, native, false));
  return { block, transfers, changes: explainedChanges(mined, wanted.recipients) };
}
