// Looks up one transaction. A node that indexes all transactions (`-txindex`) finds any of them. A node without the index finds only unconfirmed ones
// and those with an unspent output.
import type * as z from "zod";
import type { Outage } from "../../lib/fetch-text.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { ChainClientSettings, Lookup, LookupRequest } from "../sources/chain-client.ts";
import {
  coreAnswers,
  coreBlockAt,
  coreHeader,
  coreValue,
  demanded,
  parsed,
  rawTransactionCall,
} from "./core-calls-client.ts";
import { CoreHeld, CoreTransaction, CoreUnspent } from "./core-json.ts";
import { coreTransfers } from "./core-transfers-client.ts";

/** How many outputs are probed when a node does not find a transaction by its hash. */
const PROBED_OUTPUTS = 25;

const UNKNOWN = { kind: "unknown" } as const satisfies Lookup;

type Found = z.infer<ReturnType<typeof CoreTransaction>>;

export async function coreLookup(edge: ChainClientSettings, request: LookupRequest): Promise<Result<Lookup, Outage>> {
  const found = await coreValue(edge, CoreTransaction, rawTransactionCall(request.txHash));
  if (!found.ok) return found;
  const onChain = found.value === null ? ok(null) : await lookupOnChain(edge, found.value, request);
  if (!onChain.ok) return onChain;
  if (onChain.value !== null) return ok(onChain.value);
  const unspent = await lookupUnspent(edge, request);
  if (!unspent.ok) return unspent;
  if (unspent.value !== null) return ok(unspent.value);
  return request.spends.length === 0 ? ok(UNKNOWN) : lookupReplaced(edge, request, found.value?.blockHash);
}

/** Null if the transaction is in a block that has left the chain, where a transaction index still finds it. */
async function lookupOnChain(
  edge: ChainClientSettings,
  found: Found,
  { recipients }: LookupRequest,
): Promise<Result<Lookup | null, Outage>> {
  const { blockHash } = found;
  if (blockHash === undefined) {
    const transfers = await coreTransfers(edge, recipients, [found]);
    return transfers.ok ? ok({ kind: "pending", transfers: transfers.value }) : transfers;
  }
  const header = await coreHeader(edge, blockHash);
  if (!header.ok) return header;
  const { block, isOnChain } = header.value;
  if (!isOnChain) return ok(null);
  const transfers = await coreTransfers(edge, recipients, [{ ...found, block }]);
  return transfers.ok ? ok({ kind: "mined", block, transfers: transfers.value }) : transfers;
}

/** Without `-txindex`: an unspent output gives the block, and with the block's hash the node finds the transaction. */
async function lookupUnspent(
  edge: ChainClientSettings,
  request: LookupRequest,
): Promise<Result<Lookup | null, Outage>> {
  const { txHash } = request;
  const probes = Array.from({ length: PROBED_OUTPUTS }, (_, n) => ({ method: "gettxout", params: [txHash, n, false] }));
  const answers = await coreAnswers(edge, probes);
  if (!answers.ok) return answers;
  const answer = answers.value.find((each) => !each.ok || each.value !== null);
  const unspent = answer === undefined ? ok(null) : parsed(CoreUnspent, answer);
  if (!unspent.ok) return unspent;
  if (unspent.value === null) return ok(null);
  const best = await coreHeader(edge, unspent.value.bestblock);
  if (!best.ok) return best;
  const mined = demanded(await coreBlockAt(edge, best.value.block.height - unspent.value.confirmations + 1));
  if (!mined.ok) return mined;
  const { hash } = mined.value;
  // Absent after a reorg between the two calls.
  const found = demanded(await coreValue(edge, CoreTransaction, rawTransactionCall(txHash, hash)));
  return found.ok ? lookupOnChain(edge, { ...found.value, blockHash: hash }, request) : found;
}

/**
 * Finds out whether a transaction that is gone was replaced: if so, another transaction spends one of the same outputs. The node must have the
 * transaction that created the output: if it has never seen that transaction, or if that one left the chain together with this one, `gettxout`
 * returns the same answer. The last call checks whether the transaction has come back in the meantime; `leftHash` is the block, no longer on the
 * chain, in which a transaction index still finds it.
 */
async function lookupReplaced(
  edge: ChainClientSettings,
  { txHash, spends }: LookupRequest,
  leftHash: string | undefined,
): Promise<Result<Lookup, Outage>> {
  const spent = spends.map((output) => output.split(":"));
  const answers = await coreAnswers(edge, [
    ...spent.map(([txid, n]) => ({ method: "gettxout", params: [txid, Number(n), true] })),
    ...spent.map(([txid = ""]) => rawTransactionCall(txid)),
    rawTransactionCall(txHash),
  ]);
  if (!answers.ok) return answers;
  const isReplaced = spent.some((_, place) => {
    const [output, source] = [answers.value[place], answers.value[spent.length + place]];
    if (output?.ok !== true || output.value !== null || source === undefined) return false;
    const held = parsed(CoreHeld, source);
    return held.ok && held.value === true;
  });
  const last = answers.value.at(-1);
  const now = last === undefined ? ok(null) : parsed(CoreTransaction, last);
  if (!now.ok) return now;
  const isBack = now.value !== null && (leftHash === undefined || now.value.blockHash !== leftHash);
  return ok(isReplaced && !isBack ? { kind: "replaced" } : UNKNOWN);
}
