// Esplora's HTTP API, as blockstream.info, mempool.space, litecoinspace.org and one's own electrs serve it.
import * as z from "zod";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { ChainClient, ChainClientSettings } from "../chain-client.ts";
import { addressIndexClient } from "./address-index-client.ts";
import { EsploraBlock, EsploraOutspend, EsploraTransaction } from "./esplora-json.ts";
import { restJson, restText } from "./rest-client.ts";
import { Hash, type UtxoTransaction } from "./utxo-transaction.ts";

/** How long a history is followed, at 25 transactions a page, or fewer as the server is set. */
const PAGES = 200;
/** A first page may be full of unconfirmed ones and leave the confirmed out. */
const CROWDED = 10;

const History = z.array(EsploraTransaction);
type Pages = Result<readonly UtxoTransaction[], Outage>;

export function esploraClient(settings: ChainClientSettings): ChainClient {
  const edge = { ...settings, absent: /^\s*(block|transaction) not found\s*$/i };

  async function hash(path: string): Promise<Result<string | null, Outage>> {
    const text = await restText(edge, path);
    if (!text.ok || text.value === null) return text;
    const parsed = Hash.safeParse(text.value.trim());
    if (parsed.success) return ok(parsed.data);
    return err(outage(text.value.includes("<") ? "NOT_JSON" : "UNEXPECTED_SHAPE", "no hash"));
  }

  async function tipHash(): Promise<Result<string, Outage>> {
    const tip = await hash("/blocks/tip/hash");
    if (!tip.ok) return tip;
    return tip.value === null ? err(outage("BEHIND", "no block at all")) : ok(tip.value);
  }

  /** Newest first. A page's length is the server's choice, so an empty one or one of older blocks is the last. */
  async function historyOf(address: string, from: number): Promise<Pages> {
    const transactions: UtxoTransaction[] = [];
    let path = `/address/${address}/txs`;
    for (let pages = 1; pages <= PAGES; pages++) {
      const page = await restJson(edge, path, History);
      if (!page.ok) return page;
      if (page.value === null) return err(outage("BAD_STATUS", "an address without an answer"));
      transactions.push(...page.value);
      const oldest = page.value.findLast(({ block }) => block !== null);
      const isCrowded = pages === 1 && oldest === undefined && page.value.length >= CROWDED;
      const isLast = oldest === undefined || (oldest.block?.height ?? 0) < from;
      if (isLast && !isCrowded) return ok(transactions);
      path = `/address/${address}/txs/chain${oldest === undefined ? "" : `/${oldest.txHash}`}`;
    }
    return err(outage("TOO_LARGE", `more than ${PAGES} pages of one address`));
  }

  async function spenderOf(output: string): Promise<Result<string | null, Outage>> {
    const [txid, vout] = output.split(":");
    return restJson(edge, `/tx/${txid}/outspend/${vout}`, EsploraOutspend);
  }

  return addressIndexClient("esplora", settings, {
    tipHash,
    hashAt: (height) => hash(`/block-height/${height}`),
    blockOf: (of) => restJson(edge, `/block/${of}`, EsploraBlock),
    historyOf,
    transactionOf: (txid) => restJson(edge, `/tx/${txid}`, EsploraTransaction),
    spenderOf,
  });
}
