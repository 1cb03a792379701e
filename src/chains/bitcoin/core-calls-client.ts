// Calls to a Bitcoin or Litecoin node. Null means that the node does not have the item; a failure is an outage.
import type * as z from "zod";
import type { Outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import {
  outageOf,
  type RpcAnswer,
  type RpcCall,
  type RpcEdge,
  rpcBatch,
  rpcCall,
  shaped,
} from "../sources/json-rpc-client.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { CoreHeader } from "./core-json.ts";
import { behind, Hash } from "./utxo-transaction.ts";

const CALLS_AT_ONCE = 100;

/** Error codes for an item that is not found, for a number out of range, and for block data removed by pruning. */
const ABSENT: readonly number[] = [-5, -8, -1];

/** Null if the node reports that the item does not exist. */
export async function coreValue<T>(
  edge: RpcEdge,
  schema: () => z.ZodType<T>,
  { method, params }: RpcCall,
): Promise<Result<T | null, Outage>> {
  const sent = await rpcCall(edge, method, params);
  return sent.ok ? parsed(schema, sent.value) : sent;
}

/** Sends the calls in batches of `CALLS_AT_ONCE`. Returns the answers in the order of the calls. */
export async function coreAnswers(
  edge: RpcEdge,
  calls: readonly RpcCall[],
): Promise<Result<readonly RpcAnswer[], Outage>> {
  const answers: RpcAnswer[] = [];
  for (let from = 0; from < calls.length; from += CALLS_AT_ONCE) {
    const part = await rpcBatch(edge, calls.slice(from, from + CALLS_AT_ONCE));
    if (!part.ok) return part;
    answers.push(...part.value);
  }
  return ok(answers);
}

export async function coreHeader(
  edge: RpcEdge,
  hash: string,
): Promise<Result<z.infer<ReturnType<typeof CoreHeader>>, Outage>> {
  return demanded(await coreValue(edge, CoreHeader, { method: "getblockheader", params: [hash] }));
}

/** The block at that height on the best chain; null above its tip. */
export async function coreBlockAt(edge: RpcEdge, height: number): Promise<Result<BlockRef | null, Outage>> {
  const hash = await coreValue(edge, Hash, { method: "getblockhash", params: [height] });
  if (!hash.ok || hash.value === null) return hash.ok ? ok(null) : hash;
  const header = await coreHeader(edge, hash.value);
  return header.ok ? ok(header.value.block) : header;
}

/**
 * The answer includes the outputs that the transaction's inputs spend, if the node reports them: Bitcoin Core 24 and later, for a transaction whose
 * block it finds. Other nodes treat 2 as `true`.
 */
export function rawTransactionCall(txid: string, blockHash?: string): RpcCall {
  return { method: "getrawtransaction", params: [txid, 2, ...(blockHash === undefined ? [] : [blockHash])] };
}

/** Null if the node reports that the item does not exist. */
export function parsed<T>(schema: () => z.ZodType<T>, answer: RpcAnswer): Result<T | null, Outage> {
  if (answer.ok) return shaped(schema, answer.value, "the answer");
  return ABSENT.includes(answer.error.code) ? ok(null) : err(outageOf(answer.error));
}

/** Turns null into BEHIND, for a value that the node must have because it has named it. */
export function demanded<T>(found: Result<T | null, Outage>): Result<T, Outage> {
  if (!found.ok) return found;
  return found.value === null ? behind() : ok(found.value);
}
