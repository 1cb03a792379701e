// Transfers that the chain logs: tokens, and on Polygon the native coin. Logs only point to transactions; transfers are read from receipts,
// whose blocks must be on the chain that the scan is pinned to.
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { type RpcEdge, shaped } from "../sources/json-rpc-client.ts";
import type { BlockRef, Transfer } from "../sources/transfer.ts";
import { blocksOf, byHash } from "./batch-client.ts";
import { type LogLimits, type LogQuery, scanLogs } from "./log-scan-client.ts";
import { minedTransfers } from "./mined-transfers.ts";
import { LogHit, type ReceiptLog, RpcReceipt, RpcTransaction } from "./rpc-json.ts";
import {
  LOG_TRANSFER_TOPIC,
  POLYGON_COIN,
  polygonMovement,
  TRANSFER_TOPIC,
  tokenMovement,
  topicOf,
  type Wanted,
} from "./token-log.ts";

/** geth and BSC refuse more than 1,000 topics at one position. RPC vendors refuse ranges of more than 2,000 to 10,000 blocks. */
const LIMITS: LogLimits = { maxBlocks: 2_000, maxTopics: 500, maxRequests: 100 };
/** With more recipients than this, every log of the contracts is read: the cost then grows with the chain, not with the recipients. */
const NAMED_RECIPIENTS = 1_000;

interface LoggedRange {
  readonly from: number;
  readonly to: BlockRef;
  readonly wanted: Wanted;
  /** Whether the logs also show the native coin. */
  readonly isNativeLogged: boolean;
}

interface LoggedTransfers {
  readonly transfers: readonly Transfer[];
  /** Height up to which all logs were read: that of `to`, or a lower one if the node's limits made the scan too expensive. */
  readonly toHeight: number;
}

export async function scanLoggedTransfers(edge: RpcEdge, range: LoggedRange): Promise<Result<LoggedTransfers, Outage>> {
  const { from, to, wanted } = range;
  const recipients = wanted.recipients.size > NAMED_RECIPIENTS ? null : [...wanted.recipients].map(topicOf);
  const hits: LogHit[] = [];
  let toHeight = to.height;
  for (const { movement, ...query } of kindsOf(range)) {
    const found = await scanLogs(edge, { from, to, recipients, ...query }, LIMITS);
    if (!found.ok) return found;
    toHeight = Math.min(toHeight, found.value.toHeight);
    for (const log of found.value.logs) {
      if (log.removed === true || movement(log, wanted) === undefined) continue;
      const hit = shaped(LogHit, log, "eth_getLogs");
      if (!hit.ok) return hit;
      hits.push(hit.value);
    }
  }
  const within = hits.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= toHeight);
  const transfers = await proven(edge, within, range);
  return transfers.ok ? ok({ transfers: transfers.value, toHeight }) : transfers;
}

type LogKind = Pick<LogQuery, "contracts" | "topics"> & { readonly movement: typeof tokenMovement };

function kindsOf({ wanted, isNativeLogged }: LoggedRange): readonly LogKind[] {
  const tokens = { contracts: [...wanted.tokens.keys()], topics: [TRANSFER_TOPIC, null], movement: tokenMovement };
  const contracts = isNativeLogged && wanted.native !== null ? [POLYGON_COIN] : [];
  const coin = { contracts, topics: [LOG_TRANSFER_TOPIC, null, null], movement: polygonMovement };
  return [tokens, coin].filter((kind) => kind.contracts.length > 0);
}

/**
 * Reads the transfers from the receipts of the logs' transactions, because only a receipt shows a log's position within its transaction. BEHIND if
 * the answers do not match: the chain changed while it was read, and no log may be skipped.
 */
async function proven(
  edge: RpcEdge,
  hits: readonly LogHit[],
  { wanted, isNativeLogged }: LoggedRange,
): Promise<Result<readonly Transfer[], Outage>> {
  const byTransaction = Map.groupBy(hits, ({ transactionHash }) => transactionHash);
  const hashes = [...byTransaction.keys()];
  const receipts = await byHash(edge, RpcReceipt, "eth_getTransactionReceipt", hashes);
  if (!receipts.ok) return receipts;
  const valued = isNativeLogged && wanted.native !== null ? hashes : [];
  const transactions = await byHash(edge, RpcTransaction, "eth_getTransactionByHash", valued);
  if (!transactions.ok) return transactions;
  const heights = [...receipts.value.values()].map(({ blockNumber }) => blockNumber);
  const blocks = await blocksOf(edge, heights);
  if (!blocks.ok) return blocks;
  const transfers: Transfer[] = [];
  for (const [hash, reported] of byTransaction) {
    const receipt = receipts.value.get(hash);
    const block = receipt === undefined ? undefined : blocks.value.get(receipt.blockNumber);
    if (receipt === undefined || block?.hash !== receipt.blockHash || !holdsAll(receipt, reported))
      return err(outage("BEHIND", "a log and its receipt name different blocks"));
    const transaction = transactions.value.get(hash) ?? null;
    transfers.push(...minedTransfers({ receipt, transaction, block }, wanted, isNativeLogged));
  }
  return ok(transfers);
}

function holdsAll({ blockHash, logs }: RpcReceipt, hits: readonly LogHit[]): boolean {
  const byIndex = new Map(logs.map((log) => [log.logIndex, log]));
  return hits.every((hit) => {
    const log = byIndex.get(hit.logIndex);
    return hit.blockHash === blockHash && log !== undefined && textOf(log) === textOf(hit);
  });
}

function textOf({ address, topics, data }: Pick<ReceiptLog, "address" | "topics" | "data">): string {
  return [address, ...topics, data].join();
}
