// TronGrid's lists for one account, one for each asset, newest first. Rows lack the position in the receipt and, for a token, the block; a token's
// data is only what its contract claims. Rows are therefore hints, grouped by block, and the caller verifies them. The position in each list is
// stored as text, so that any client can continue from it.
import * as z from "zod";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Asset } from "../registry/assets.ts";
import type { Network } from "../registry/network.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { addressOfHex } from "./tron-hex.ts";
import { type TronEdge, walletCall } from "./wallet-api-client.ts";
import { Digits, nativeTransfer, WalletTransaction } from "./wallet-json.ts";

/** The largest page that TronGrid's v1 returns. */
const PAGE_ROWS = 200;

/** A transaction that may pay the account; a native one comes with the row's data. */
export interface Hint {
  readonly txHash: string;
  readonly native: WalletTransaction | null;
}

/** The rows on one page that belong to one block, which is identified by its time and, if rows have it, its height. */
export interface HintedBlock {
  readonly timeMs: number;
  /** The height that a native row claims. */
  readonly height: number | undefined;
  readonly hints: readonly Hint[];
}

/** How far one list has been read. */
export interface ListPlace {
  /** Contract of the token; empty for the native coin. */
  readonly contract: string;
  /** TronGrid's fingerprint of the page; empty for the first. */
  readonly mark: string;
  /** The oldest time on the previous page: no row on this page is newer. Infinite for the first page. */
  readonly ceilingMs: number;
  /** Rows at or after this time have been read. */
  readonly readMs: number;
}

interface ListPage {
  /** The unread blocks, newest first. */
  readonly blocks: readonly HintedBlock[];
  /** The position of the next page; null on the last. */
  readonly next: ListPlace | null;
}

/** One account and a time range, for all pages. */
interface Account {
  readonly network: Network;
  readonly address: string;
  readonly from: BlockRef;
  readonly to: BlockRef;
}

const TokenRow = lazily(() =>
  z
    .object({
      transaction_id: z.string(),
      block_timestamp: Digits(),
      type: z.string().nullish(),
      to: z.string().nullish(),
      value: z.string().nullish(),
    })
    .transform(({ transaction_id: txHash, block_timestamp, ...of }) => ({
      txHash,
      timeMs: Number(block_timestamp),
      ...of,
    })),
);
const NativeRow = lazily(() =>
  WalletTransaction().required({ txID: true, block_timestamp: true }).extend({
    blockNumber: Digits().optional(),
  }),
);
/** Rows of internal transactions have a different format. */
const OtherRow = lazily(() => z.object({ txID: z.undefined().optional() }).transform(() => null));

const pageOf = <T extends z.ZodType>(row: T) =>
  z.object({ data: z.array(row), meta: z.object({ fingerprint: z.string().optional() }) });
const TokenPage = lazily(() => pageOf(TokenRow()));
const NativePage = lazily(() => pageOf(z.union([NativeRow(), OtherRow()])));

interface Row {
  readonly timeMs: number;
  readonly height: number | undefined;
  /** Undefined if nothing in the row could pay the account. */
  readonly hint: Hint | undefined;
}

const ENTRY = /^([^:]*):([^:]*):(\d*):(\d*)$/;

/** Where each list begins, or where an earlier read ended; leaves out lists that were read to their end. */
export function placesOf(after: string | null, assets: readonly Asset[]): readonly ListPlace[] {
  const contracts = assets.map(({ contract }) => contract ?? "");
  const entries = after?.split(" ").map((entry) => ENTRY.exec(entry)) ?? [];
  const known = entries.flatMap((entry): readonly ListPlace[] => {
    const [, contract = "", mark = "", ceiling = "", read = ""] = entry ?? [];
    if (entry === null || !contracts.includes(contract)) return [];
    return [{ contract, mark: decodeURIComponent(mark), ceilingMs: timeOf(ceiling), readMs: timeOf(read) }];
  });
  // If this client cannot parse the positions, everything is read again.
  if (entries.length > 0 && entries.every((entry) => entry !== null)) return known;
  return contracts.map((contract) => ({ contract, mark: "", ceilingMs: Infinity, readMs: Infinity }));
}

/** The text that `placesOf` reads; null if every list was read to its end. */
export function printPlaces(places: readonly ListPlace[]): string | null {
  const printed = places.map(({ contract, mark, ceilingMs, readMs }) =>
    [contract, encodeURIComponent(mark), printTime(ceilingMs), printTime(readMs)].join(":"),
  );
  return printed.length === 0 ? null : printed.join(" ");
}

const timeOf = (text: string) => (text === "" ? Infinity : Number(text));
const printTime = (timeMs: number) => (Number.isFinite(timeMs) ? String(timeMs) : "");

/** Reads one page in one request. Fails if the page does not continue the previous one, because reading would then never end. */
export async function readPage(edge: TronEdge, of: Account, place: ListPlace): Promise<Result<ListPage, Outage>> {
  const read = place.contract === "" ? await nativeRows(edge, of, place) : await tokenRows(edge, of, place);
  if (!read.ok) return read;
  const { rows, mark } = read.value;
  const times = rows.map(({ timeMs }) => timeMs);
  const oldestMs = Math.min(place.ceilingMs, ...times);
  const isAgain = times.some((timeMs) => timeMs > place.ceilingMs) && oldestMs === place.ceilingMs;
  if (isAgain || (mark !== undefined && mark === place.mark)) {
    return err(outage("UNEXPECTED_SHAPE", "a page does not continue the page before it"));
  }
  const unread = rows.filter(({ timeMs }) => timeMs < place.readMs);
  const next =
    mark === undefined ? null : { contract: place.contract, mark, ceilingMs: oldestMs, readMs: oldestMs + 1 };
  return ok({ blocks: byBlock(unread), next });
}

interface Rows {
  readonly rows: readonly Row[];
  readonly mark: string | undefined;
}

async function nativeRows(edge: TronEdge, of: Account, place: ListPlace): Promise<Result<Rows, Outage>> {
  // Leaves out internal transactions, which would be separate rows.
  const path = pathOf(of, place, "?search_internal=false");
  const page = await walletCall(edge, { path, schema: NativePage });
  if (!page.ok) return page;
  const rows = page.value.data.flatMap((row): readonly Row[] => {
    if (row === null) return [];
    const height = row.blockNumber === undefined ? undefined : Number(row.blockNumber);
    const hint = mayPayCoins(of, row) ? { txHash: row.txID, native: row } : undefined;
    return [{ timeMs: Number(row.block_timestamp), height, hint }];
  });
  return ok({ rows, mark: page.value.meta.fingerprint });
}

async function tokenRows(edge: TronEdge, of: Account, place: ListPlace): Promise<Result<Rows, Outage>> {
  const path = pathOf(of, place, `/trc20?contract_address=${place.contract}`);
  const page = await walletCall(edge, { path, schema: TokenPage });
  if (!page.ok) return page;
  const rows = page.value.data.map((row): Row => {
    const hint = mayPayTokens(of, row) ? { txHash: row.txHash, native: null } : undefined;
    return { timeMs: row.timeMs, height: undefined, hint };
  });
  return ok({ rows, mark: page.value.meta.fingerprint });
}

function pathOf({ address, from, to }: Account, { mark }: ListPlace, list: string): string {
  const window = `only_to=true&limit=${PAGE_ROWS}&min_timestamp=${from.timeMs}&max_timestamp=${to.timeMs}`;
  const next = mark === "" ? "" : `&fingerprint=${encodeURIComponent(mark)}`;
  return `/v1/accounts/${address}/transactions${list}&${window}${next}`;
}

/** A row has all data of a TRX transfer except its block, so a row that pays nothing can be skipped. */
function mayPayCoins({ network, address, to }: Account, row: WalletTransaction): boolean {
  return nativeTransfer(row, { network, block: to, recipients: new Set([address]) }) !== undefined;
}

/** False if the row claims that it is not a transfer, moves nothing, or pays a different account. */
function mayPayTokens({ address }: Account, { type, to, value }: z.infer<ReturnType<typeof TokenRow>>): boolean {
  const isTransfer = (type ?? "Transfer") === "Transfer";
  const isOurs = to === null || to === undefined || (addressOfHex(to) ?? to) === address;
  return isTransfer && isOurs && !/^0+$/.test(value ?? "");
}

/** Groups by height if rows have it: if a chain's clock was set back, two blocks may have the same time. */
function byBlock(rows: readonly Row[]): readonly HintedBlock[] {
  const blocks = new Map<string, HintedBlock>();
  for (const { timeMs, height, hint } of rows) {
    if (hint === undefined) continue;
    const key = `${timeMs} ${height ?? ""}`;
    const hints = blocks.get(key)?.hints.filter(({ txHash }) => txHash !== hint.txHash) ?? [];
    blocks.set(key, { timeMs, height, hints: [...hints, hint] });
  }
  return [...blocks.values()].toSorted((one, other) => other.timeMs - one.timeMs);
}
