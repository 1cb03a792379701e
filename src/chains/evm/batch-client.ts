// Many small calls to an EVM node in few requests, and the blocks and receipts that scans need.
import type * as z from "zod";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { outageOf, type RpcAnswer, type RpcCall, type RpcEdge, rpcBatch, shaped } from "../sources/json-rpc-client.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { FullBlock, quantity, RpcBlock } from "./rpc-json.ts";

/** The most calls with small answers in one request; many vendors refuse more than 100. */
export const SMALL_AT_ONCE = 50;
/** The most calls for whole blocks in one request; each block may have a few hundred kilobytes. */
export const FULL_AT_ONCE = 10;

const blockCall = (height: number): RpcCall => ({
  method: "eth_getBlockByNumber",
  params: [quantity(height), false],
});

/**
 * The answers to all calls, in their order, including refusals. Each request goes to one node and also checks that this node has the block `to`;
 * BEHIND if it does not. So no answer is about another branch, no matter which of a vendor's nodes gave it.
 */
export async function pinned(
  edge: RpcEdge,
  to: BlockRef,
  calls: readonly RpcCall[],
  atOnce = SMALL_AT_ONCE,
): Promise<Result<readonly RpcAnswer[], Outage>> {
  const found: RpcAnswer[] = [];
  for (let at = 0; at < calls.length; at += atOnce) {
    const answers = await rpcBatch(edge, [blockCall(to.height), ...calls.slice(at, at + atOnce)]);
    if (!answers.ok) return answers;
    const [last, ...rest] = answers.value;
    const block = valueIn(last, RpcBlock, "eth_getBlockByNumber");
    if (!block.ok) return block;
    if (block.value?.hash !== to.hash) return err(outage("BEHIND", `block ${to.height} has changed`));
    found.push(...rest);
  }
  return ok(found);
}

/** The answers to all calls, in their order, parsed by one schema; one refused call fails all. */
export async function batched<T>(
  edge: RpcEdge,
  schema: () => z.ZodType<T>,
  calls: readonly RpcCall[],
  atOnce = SMALL_AT_ONCE,
): Promise<Result<readonly T[], Outage>> {
  const found: T[] = [];
  for (let at = 0; at < calls.length; at += atOnce) {
    const part = calls.slice(at, at + atOnce);
    const answers = await rpcBatch(edge, part);
    if (!answers.ok) return answers;
    for (const answer of answers.value) {
      const value = valueIn(answer, schema, part[0]?.method ?? "");
      if (!value.ok) return value;
      found.push(value.value);
    }
  }
  return ok(found);
}

/** Looks up transactions by hash; BEHIND if one is missing, because the node had reported all of them. */
export async function byHash<T>(
  edge: RpcEdge,
  schema: () => z.ZodType<T>,
  method: "eth_getTransactionReceipt" | "eth_getTransactionByHash",
  hashes: readonly string[],
): Promise<Result<ReadonlyMap<string, T>, Outage>> {
  const calls = hashes.map((hash) => ({ method, params: [hash] }));
  const read = await batched(edge, () => schema().nullable(), calls);
  if (!read.ok) return read;
  const found = new Map<string, T>();
  for (const [place, hash] of hashes.entries()) {
    const value = read.value[place];
    if (value === null || value === undefined) return err(outage("BEHIND", `${method} found nothing`));
    found.set(hash, value);
  }
  return ok(found);
}

/** Blocks by height, one for each height; null above the node's tip. */
export async function blocksOf(
  edge: RpcEdge,
  heights: readonly number[],
): Promise<Result<ReadonlyMap<number, BlockRef | null>, Outage>> {
  const unique = [...new Set(heights)];
  const read = await batched(edge, RpcBlock, unique.map(blockCall));
  return read.ok ? ok(new Map(unique.map((height, place) => [height, read.value[place] ?? null]))) : read;
}

/** Whole blocks, at most ten at a time; BEHIND if they do not form a chain that ends in `to`. */
export async function* fullBlocks(
  edge: RpcEdge,
  { from, to }: { readonly from: number; readonly to: BlockRef },
): AsyncGenerator<Result<readonly FullBlock[], Outage>, void> {
  let parent: string | undefined;
  for (let first = from; first <= to.height; first += FULL_AT_ONCE) {
    const count = Math.min(FULL_AT_ONCE, to.height - first + 1);
    const calls = Array.from({ length: count }, (_, place) => ({
      method: "eth_getBlockByNumber",
      params: [quantity(first + place), true],
    }));
    const read = await batched(edge, FullBlock, calls, FULL_AT_ONCE);
    if (!read.ok) return yield read;
    const blocks: FullBlock[] = [];
    for (const [place, full] of read.value.entries()) {
      const isNext = full?.block.height === first + place && (parent === undefined || full.parentHash === parent);
      if (!isNext) return yield err(outage("BEHIND", "the blocks do not form a chain"));
      parent = full.block.hash;
      blocks.push(full);
    }
    if (first + count > to.height && parent !== to.hash)
      return yield err(outage("BEHIND", `block ${to.height} has changed`));
    yield ok(blocks);
  }
}

function valueIn<T>(answer: RpcAnswer | undefined, schema: () => z.ZodType<T>, what: string): Result<T, Outage> {
  if (answer === undefined) throw new Error("the batch has fewer answers than calls");
  return answer.ok ? shaped(schema, answer.value, what) : err(outageOf(answer.error));
}
