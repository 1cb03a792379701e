// The transfers of a node's transactions. Blocks and mempools name the outputs that a transaction spends, but not their owners; the node is asked
// for the owners only for the few transactions that pay a recipient. If it does not know them, the sender stays unknown.
import type * as z from "zod";
import type { Outage } from "../../lib/fetch-text.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { ChainClientSettings } from "../sources/chain-client.ts";
import type { RpcCall } from "../sources/json-rpc-client.ts";
import type { Transfer } from "../sources/transfer.ts";
import { coreAnswers, parsed, rawTransactionCall } from "./core-calls-client.ts";
import { CoreOwner, CoreTransaction } from "./core-json.ts";
import { MOST_SPENDS, transfersTo, type UtxoTransaction } from "./utxo-transaction.ts";

/** How many spent outputs one read may ask a node about, and how many of the transactions that created them, which may be large. */
const MOST_OUTPUTS = 2_000;
const MOST_PARENTS = 50;

export async function coreTransfers(
  edge: ChainClientSettings,
  recipients: ReadonlySet<string>,
  transactions: readonly UtxoTransaction[],
): Promise<Result<readonly Transfer[], Outage>> {
  const paying = transactions.filter(({ outputs }) => outputs.some(({ address }) => recipients.has(address)));
  const known = await withOwners(edge, paying);
  if (!known.ok) return known;
  return ok(known.value.flatMap((each) => transfersTo(recipients, edge.network.nativeCode, each)));
}

async function withOwners(
  edge: ChainClientSettings,
  paying: readonly UtxoTransaction[],
): Promise<Result<readonly UtxoTransaction[], Outage>> {
  const owners = new Map(paying.map((each) => [each, each.spentFrom]));
  const silent = () => paying.filter((each) => owners.get(each)?.length === 0);
  const mined = silent().filter(({ block }) => block !== null);
  const again = await answersTo(edge, CoreTransaction, mined, ({ txHash, block }) =>
    rawTransactionCall(txHash, block?.hash),
  );
  if (!again.ok) return again;
  for (const [each, found] of again.value) owners.set(each, found.spentFrom);
  const outputs = silent().flatMap((of) => of.spends.slice(0, MOST_SPENDS).map((output) => placeOf(of, output)));
  const own = outputs.slice(0, MOST_OUTPUTS);
  // The outputs that a mined transaction spends are no longer in the set of unspent outputs.
  const pending = own.filter(({ of }) => of.block === null);
  const unspent = await answersTo(edge, CoreOwner, pending, ({ txid, n }) => ({
    method: "gettxout",
    params: [txid, Number(n), false],
  }));
  if (!unspent.ok) return unspent;
  const left = own.filter((output) => !unspent.value.has(output)).slice(0, MOST_PARENTS);
  const parents = await answersTo(edge, CoreTransaction, left, ({ txid }) => rawTransactionCall(txid));
  if (!parents.ok) return parents;
  for (const output of own) {
    const { of, n } = output;
    const made = parents.value.get(output)?.outputs.find(({ index }) => index === n);
    const owner = unspent.value.get(output) ?? made?.address;
    if (owner !== undefined) owners.set(of, [...(owners.get(of) ?? []), owner]);
  }
  return ok(paying.map((each) => ({ ...each, spentFrom: owners.get(each) ?? [] })));
}

function placeOf(of: UtxoTransaction, output: string) {
  const [txid = "", n = ""] = output.split(":");
  return { of, txid, n };
}

/**
 * The node's answers by item, without the items that it refuses. If the response is too large, all answers count as missing, so that it does not keep
 * a block from being read.
 */
async function answersTo<Of, T>(
  edge: ChainClientSettings,
  schema: () => z.ZodType<T>,
  all: readonly Of[],
  callOf: (of: Of) => RpcCall,
): Promise<Result<ReadonlyMap<Of, T>, Outage>> {
  const answers = await coreAnswers(edge, all.map(callOf));
  if (!answers.ok) return answers.error.kind === "TOO_LARGE" ? ok(new Map()) : answers;
  return ok(
    new Map(
      all.flatMap((of, place) => {
        const answer = answers.value[place];
        const found = answer === undefined ? undefined : parsed(schema, answer);
        return found?.ok === true && found.value !== null ? [[of, found.value] as const] : [];
      }),
    ),
  );
}
