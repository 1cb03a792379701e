// Esplora's HTTP API, served by blockstream.info, mempool.space, litecoinspace.org and a self-hosted electrs.
import * as z from "zod";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { ChainClient, ChainClientSettings } from "../sources/chain-client.ts";
import { AddressIndexClient, type AddressPage, type AddressPages, samePage } from "./address-index-client.ts";
import { EsploraBlock, EsploraOutspend, EsploraTransaction } from "./esplora-json.ts";
import { type RestEdge, restJson, restText } from "./rest-client.ts";
import { Hash, type UtxoTransaction } from "./utxo-transaction.ts";

/** From this many unconfirmed transactions on, the first page may leave out the confirmed ones. */
const CROWDED = 10;

const History = lazily(() => z.array(EsploraTransaction()));
type Pages = Result<AddressPage, Outage>;

export function esploraClient(settings: ChainClientSettings): ChainClient {
  const edge = { ...settings, absent: /^\s*(block|transaction) not found\s*$/i };
  return new AddressIndexClient("esplora", settings, {
    tipHash: () => tipHash(edge),
    hashAt: (height) => hash(edge, `/block-height/${height}`),
    blockOf: (of) => restJson(edge, `/block/${of}`, EsploraBlock),
    historyOf: (of) => historyOf(edge, of),
    transactionOf: (txid) => restJson(edge, `/tx/${txid}`, EsploraTransaction),
    spenderOf: (output) => spenderOf(edge, output),
  });
}

async function hash(edge: RestEdge, path: string): Promise<Result<string | null, Outage>> {
  const text = await restText(edge, path);
  if (!text.ok || text.value === null) return text;
  const parsed = Hash().safeParse(text.value.trim());
  if (parsed.success) return ok(parsed.data);
  return err(outage(text.value.includes("<") ? "NOT_JSON" : "UNEXPECTED_SHAPE", "the hash is missing"));
}

async function tipHash(edge: RestEdge): Promise<Result<string, Outage>> {
  const tip = await hash(edge, "/blocks/tip/hash");
  if (!tip.ok) return tip;
  return tip.value === null ? err(outage("BEHIND", "the source has no block")) : ok(tip.value);
}

/**
 * Newest first. The server chooses the page size; the last page has no mined transactions or reaches below `from`. `next` is the txid of the oldest
 * mined transaction read; empty if no page had one yet.
 */
async function historyOf(edge: RestEdge, { address, from, after, pages }: AddressPages): Promise<Pages> {
  const resumed = after === null ? ok(null) : await stillMined(edge, after);
  if (!resumed.ok) return resumed;
  const transactions: UtxoTransaction[] = [];
  let last = resumed.value;
  for (let page = 1; page <= pages; page++) {
    const path = last === null ? "" : `/chain${last === "" ? "" : `/${last}`}`;
    const read = await restJson(edge, `/address/${address}/txs${path}`, History);
    if (!read.ok) return read;
    if (read.value === null) return err(outage("BAD_STATUS", "no answer for an address"));
    const mark = last;
    if (read.value.some(({ txHash }) => txHash === mark)) return samePage();
    transactions.push(...read.value);
    const oldest = read.value.findLast(({ block }) => block !== null);
    const isCrowded = last === null && oldest === undefined && read.value.length >= CROWDED;
    const isLast = oldest === undefined || (oldest.block?.height ?? 0) < from;
    if (isLast && !isCrowded) return ok({ transactions, next: null });
    last = oldest?.txHash ?? "";
  }
  return ok({ transactions, next: last });
}

/**
 * If the transaction after which a page starts has left its block, the server returns an empty page, which would look like the end of the history. In
 * that case the history is read again from its newest page.
 */
async function stillMined(edge: RestEdge, txid: string): Promise<Result<string | null, Outage>> {
  if (txid === "") return ok(txid);
  const found = await restJson(edge, `/tx/${txid}`, EsploraTransaction);
  if (!found.ok) return found;
  return ok(found.value === null || found.value.block === null ? null : txid);
}

async function spenderOf(edge: RestEdge, output: string): Promise<Result<string | null, Outage>> {
  const [txid, vout] = output.split(":");
  return restJson(edge, `/tx/${txid}/outspend/${vout}`, EsploraOutspend);
}
