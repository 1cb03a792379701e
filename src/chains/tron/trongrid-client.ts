// TronGrid v1, the second way to TRON: an index by account whose rows say neither block nor place in the receipt, and say of a token only what
// its contract claims. A row therefore is a hint; what it points at is read from the node's own API behind the same address (chains.md 1).
import * as z from "zod";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { BlockRef, Transfer } from "../../payments/transfer.ts";
import type {
  ChainClient,
  ChainClientSettings,
  History,
  HistoryRequest,
  Lookup,
  LookupRequest,
  Scan,
  ScanRange,
} from "../chain-client.ts";
import type { NetworkName } from "../network.ts";
import { tokenTransfers } from "./token-logs.ts";
import { bareHash } from "./tron-hex.ts";
import {
  blockByNumber,
  nowBlock,
  type TronEdge,
  transactionById,
  transactionInfo,
  tronEdge,
  walletCall,
} from "./wallet-api-client.ts";
import {
  Digits,
  internalTransfers,
  isFailed,
  nativeTransfer,
  type TransactionInfo,
  WalletTransaction,
} from "./wallet-json.ts";

const GENESIS: Readonly<Partial<Record<NetworkName, string>>> = {
  TRX: "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc",
  TRX_NILE: "0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc",
};
/** The most that v1 gives at once. */
const PAGE_ROWS = 200;
/** Of one list, in a scan of many: an address that takes more in one pass is one for the JSON-RPC. */
const MAX_PAGES = 50;
/** Accounts asked for at once; a Worker has six connections. */
const AT_ONCE = 4;

const Row = z.object({ transaction_id: z.string(), block_timestamp: Digits });
const pageOf = <T extends z.ZodType>(row: T) =>
  z.object({ data: z.array(row), meta: z.object({ fingerprint: z.string().optional() }) });
const TokenPage = pageOf(Row);
const NativePage = pageOf(WalletTransaction);

/** The transactions that the lists name, each once; the native ones as the row has them. */
type Hints = Map<string, WalletTransaction | null>;

export function trongridClient(settings: ChainClientSettings): ChainClient {
  const { network } = settings;
  const edge = tronEdge(settings);

  async function verify(): Promise<Result<true, Outage>> {
    const first = await blockByNumber(edge, 0);
    if (!first.ok) return first;
    const isOurs = first.value !== null && first.value.hash === GENESIS[network.name];
    return isOurs ? ok(true) : err(outage("WRONG_CHAIN", "another block 0"));
  }

  /** The block that ranges begin at, for they share it; forgotten with the tip. */
  let first: BlockRef | undefined;

  async function tip(): Promise<Result<BlockRef, Outage>> {
    first = undefined;
    const block = await nowBlock(edge, "wallet");
    if (!block.ok) return block;
    return block.value === null ? err(outage("BEHIND", "no block at all")) : ok(block.value);
  }

  async function finalizedHeight(): Promise<Result<number | null, Outage>> {
    const block = await nowBlock(edge, "walletsolidity");
    return block.ok ? ok(block.value?.height ?? null) : block;
  }

  async function firstOf(height: number): Promise<Result<BlockRef, Outage>> {
    if (first?.height === height) return ok(first);
    const block = await blockByNumber(edge, height);
    if (!block.ok) return block;
    if (block.value === null) return err(outage("BEHIND", `no block ${height}`));
    first = block.value;
    return ok(first);
  }

  async function scan(range: ScanRange): Promise<Result<Scan, Outage>> {
    const begin = await firstOf(range.from);
    if (!begin.ok) return begin;
    const hints = await hintsOf(edge, range, begin.value);
    if (!hints.ok) return hints;
    const transfers = await transfersBy(hints.value, range);
    if (!transfers.ok) return transfers;
    // Whatever was read belongs to the chain that `to` is of, or the pass is made again.
    const last = await blockByNumber(edge, range.to.height);
    if (!last.ok) return last;
    if (last.value?.hash !== range.to.hash) return err(outage("BEHIND", "another tip"));
    return ok({ transfers: transfers.value, to: range.to });
  }

  async function history({ address, after, pages, ...of }: HistoryRequest): Promise<Result<History, Outage>> {
    const begin = await firstOf(of.from);
    if (!begin.ok) return begin;
    const range = { ...of, recipients: new Set([address]) };
    const hints: Hints = new Map();
    const request = { recipient: address, window: windowOf(begin.value, of.to), range };
    const next = await hintsFor(edge, request, hints, { after, pages });
    if (!next.ok) return next;
    const transfers = await transfersBy(hints, range);
    return transfers.ok ? ok({ transfers: transfers.value, next: next.value }) : transfers;
  }

  async function transfersBy(hints: Hints, range: ScanRange): Promise<Result<readonly Transfer[], Outage>> {
    const blocks = new Map<number, BlockRef>();
    const transfers: Transfer[] = [];
    for (const [txHash, native] of hints) {
      const info = await transactionInfo(edge, txHash);
      if (!info.ok) return info;
      if (info.value === null) return err(outage("BEHIND", "a listed transaction is in no block"));
      const height = Number(info.value.blockNumber ?? 0);
      if (height < range.from || height > range.to.height) continue;
      const block = await blockOf(info.value, blocks);
      if (!block.ok) return block;
      transfers.push(...transfersOf({ info: info.value, native, block: block.value, of: range }));
    }
    return ok(transfers);
  }

  /** The block that holds the transaction; the information tells its height and time, not its hash. */
  async function blockOf(info: TransactionInfo, known: Map<number, BlockRef>): Promise<Result<BlockRef, Outage>> {
    const height = Number(info.blockNumber ?? 0);
    const read = known.get(height);
    const block = read === undefined ? await blockByNumber(edge, height) : ok(read);
    if (!block.ok) return block;
    if (block.value === null || String(block.value.timeMs) !== info.blockTimeStamp) {
      return err(outage("BEHIND", "a transaction and its block disagree"));
    }
    known.set(height, block.value);
    return ok(block.value);
  }

  function transfersOf(found: {
    info: TransactionInfo;
    native: WalletTransaction | null;
    block: BlockRef;
    of: Pick<ScanRange, "recipients" | "assets">;
  }): readonly Transfer[] {
    const { info, native, block, of } = found;
    if (info.id === undefined || isFailed(info)) return [];
    const tokens = tokenTransfers(info.log, { txHash: info.id, block, ...of });
    const isWanted = of.assets.some(({ contract }) => contract === null);
    const coins =
      native !== null && isWanted ? nativeTransfer(native, { network, block, recipients: of.recipients }) : undefined;
    return coins === undefined ? tokens : [...tokens, coins];
  }

  async function lookup({ txHash: asked, recipients }: LookupRequest): Promise<Result<Lookup, Outage>> {
    const txHash = bareHash(asked);
    if (txHash === undefined) return ok({ kind: "unknown" });
    const transaction = await transactionById(edge, txHash);
    if (!transaction.ok) return transaction;
    if (transaction.value === null) return ok({ kind: "unknown" });
    const info = await transactionInfo(edge, txHash);
    if (!info.ok) return info;
    if (info.value === null) return ok({ kind: "pending", transfers: [] });
    const block = await blockOf(info.value, new Map());
    if (!block.ok) return block;
    const of = { recipients, assets: network.assets };
    const shown = transfersOf({ info: info.value, native: transaction.value, block: block.value, of });
    const inside = internalTransfers(info.value, { network, block: block.value, recipients });
    return ok({ kind: "mined", block: block.value, transfers: [...shown, ...inside] });
  }

  return {
    kind: "trongrid",
    costsBy: "recipients",
    verify,
    tip,
    finalizedHeight,
    block: (height) => blockByNumber(edge, height),
    scan,
    // Nothing is shown at 0 confirmations.
    mempool: async () => ok([]),
    history,
    lookup,
  };
}

const windowOf = (from: BlockRef, to: BlockRef) =>
  `only_to=true&limit=${PAGE_ROWS}&min_timestamp=${from.timeMs}&max_timestamp=${to.timeMs}`;

async function hintsOf(edge: TronEdge, range: ScanRange, from: BlockRef): Promise<Result<Hints, Outage>> {
  const hints: Hints = new Map();
  const window = windowOf(from, range.to);
  const recipients = [...range.recipients];
  const pages = MAX_PAGES * range.assets.length;
  for (let at = 0; at < recipients.length; at += AT_ONCE) {
    const asked = await Promise.all(
      recipients.slice(at, at + AT_ONCE).map(async (recipient) => {
        const next = await hintsFor(edge, { recipient, window, range }, hints, { after: null, pages });
        if (!next.ok || next.value === null) return next;
        return err(outage("TOO_LARGE", `more than ${pages} pages of one account`));
      }),
    );
    const failed = asked.find((each) => !each.ok);
    if (failed !== undefined && !failed.ok) return failed;
  }
  return ok(hints);
}

interface Lists {
  readonly recipient: string;
  readonly window: string;
  readonly range: Pick<ScanRange, "assets">;
}

/**
 * Adds to `hints` what the lists of one account name, one list for each asset; where the pages end before the lists do, where to read on:
 * `contract fingerprint`, without a contract for the native coin.
 */
async function hintsFor(
  edge: TronEdge,
  of: Lists,
  hints: Hints,
  { after, pages }: Pick<HistoryRequest, "after" | "pages">,
): Promise<Result<string | null, Outage>> {
  const lists = of.range.assets.map(({ contract }) => contract ?? "");
  const [begun, mark = ""] = after?.split(" ") ?? [];
  let list = begun === undefined ? 0 : Math.max(0, lists.indexOf(begun));
  let more = begun !== undefined && lists[list] === begun ? mark : "";
  for (let page = 0; page < pages; page++) {
    const contract = lists[list];
    if (contract === undefined) return ok(null);
    const read = await onePage(edge, of, { contract, more }, hints);
    if (!read.ok) return read;
    more = read.value ?? "";
    if (read.value === undefined) list++;
  }
  return ok(list < lists.length ? `${lists[list]} ${more}` : null);
}

/** One page of one list; its fingerprint where another follows. */
async function onePage(
  edge: TronEdge,
  of: Lists,
  { contract, more }: { readonly contract: string; readonly more: string },
  hints: Hints,
): Promise<Result<string | undefined, Outage>> {
  const account = `/v1/accounts/${of.recipient}/transactions`;
  const next = more === "" ? "" : `&fingerprint=${encodeURIComponent(more)}`;
  if (contract === "") {
    // Internal transactions come as rows of their own and are no transfers at the top level.
    const path = `${account}?${of.window}&search_internal=false${next}`;
    const rows = await walletCall(edge, { path, schema: NativePage });
    if (!rows.ok) return rows;
    for (const row of rows.value.data) if (row.txID !== undefined) hints.set(row.txID, row);
    return ok(rows.value.meta.fingerprint);
  }
  const path = `${account}/trc20?${of.window}&contract_address=${contract}${next}`;
  const rows = await walletCall(edge, { path, schema: TokenPage });
  if (!rows.ok) return rows;
  for (const { transaction_id } of rows.value.data) hints.set(transaction_id, hints.get(transaction_id) ?? null);
  return ok(rows.value.meta.fingerprint);
}
