// Asks a second source about addresses whose invoices are about to expire (confirm-silence.ts). However slow the source and however long the history,
// a pass asks for a bounded part and records where it ended; the next pass continues from that position.

import type { Network } from "../../chains/registry/networks.ts";
import type { ChainClient, History, HistoryRequest } from "../../chains/sources/chain-client.ts";
import type { BlockRef, Transfer } from "../../chains/sources/transfer.ts";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { askEach, MOST_REFUSED } from "./ask-each.ts";
import { askControl, askHistory } from "./by-address/ask-history.ts";
import { secondOpinionBlocks } from "./cursor-plan.ts";
import type { SecondPage, SecondWalk } from "./progress.ts";
import type { Pass, WatchDependencies } from "./watch-pass.ts";

/**
 * The most addresses about which one pass asks a second source that is read by address. The next pass continues: 24,000 an hour with a pass every 30
 * s.
 */
const ADDRESSES_A_PASS = 200;
/**
 * How many pages each read of an address asks for after the first, and how many such reads there are. The first read asks for one page, to measure
 * how slow the source is.
 */
const PAGES = 8;
const LOOKS = 4;
/** A source that takes longer for a page is asked for one page at a time. */
const SLOW_MS = 2 * SECOND_MS;
/** The most scans in one pass, for a second source that reads blocks. */
const SCANS = 4;
/** Starts no more requests after this time. */
const LONGEST_MS = 15 * SECOND_MS;

/** The answers from other sources; kept even if one of the sources fails later. */
export interface Heard {
  /** Transfers by recipient address, for completely answered addresses. */
  readonly transfers: Map<string, readonly Transfer[]>;
  /** Addresses that a source answered only partly or not at all, although it answers for others. */
  readonly refused: Set<string>;
  /** Transfers from partial answers. */
  readonly parts: (readonly Transfer[])[];
  /** Where to continue for the first partly answered address. */
  page: SecondPage | null;
  /** Where to continue in the blocks; null if they were read to the end, or no blocks were asked for. */
  walk: Omit<SecondWalk, "fromMs" | "upTo"> | null;
}

interface AskedSecond {
  /** The addresses, in the order in which their invoices are due. */
  readonly recipients: ReadonlySet<string>;
  /** The earliest activation of these addresses; null if only transfers newer than `to` can be missing. */
  readonly sinceMs: number | null;
  /** The first source's last block. */
  readonly to: BlockRef;
  readonly heard: Heard;
}

type Range = Omit<AskedSecond, "sinceMs"> & {
  /** First block. */
  readonly from: number;
  /** The second source's tip. */
  readonly tip: BlockRef;
};

export async function askSecond(
  deps: WatchDependencies,
  second: ChainClient,
  pass: Pass,
  of: AskedSecond,
): Promise<Result<true, Outage>> {
  const { to, sinceMs } = of;
  const tip = await second.tip();
  if (!tip.ok) return tip;
  deps.pool.noteTip(second, tip.value.height, deps.nowMs());
  if (tip.value.height < to.height) return err(outage("BEHIND", "the second source is behind the first"));
  const from = sinceMs === null ? to.height : firstBlock(pass.network, to, sinceMs);
  const range = { ...of, from, tip: tip.value };
  return second.history === undefined ? scanOn(deps, second, pass, range) : askAddresses(deps, second, pass, range);
}

function firstBlock(network: Network, to: BlockRef, sinceMs: number): number {
  const { blockSeconds, overlapBlocks } = network;
  const blocks = Math.ceil((to.timeMs - sinceMs) / (blockSeconds * SECOND_MS)) + 2 * overlapBlocks;
  return Math.max(0, to.height - Math.min(secondOpinionBlocks(network), blocks));
}

/** Makes a few scans of a source that reads blocks, from where an earlier pass ended. */
async function scanOn(
  deps: WatchDependencies,
  second: ChainClient,
  pass: Pass,
  of: Range,
): Promise<Result<true, Outage>> {
  const { recipients, to, heard } = of;
  const source = deps.pool.nameOf(second);
  const known = await storedWalk(second, pass.progress.walk, source);
  if (!known.ok) return known;
  const read = await scanBlocks(deps, second, pass, { ...of, from: nextOf(known.value) ?? of.from });
  if (!read.ok) return read;
  const last = read.value.last ?? known.value?.read;
  const open = known.value?.open ?? [];
  if (last !== undefined && last.height < to.height) {
    heard.parts.push(read.value.transfers);
    heard.walk = { source, read: last, sinceMs: Math.min(known.value?.sinceMs ?? deps.nowMs(), deps.nowMs()), open };
    return ok(true);
  }
  const mempool = await second.mempool(recipients);
  if (!mempool.ok) return mempool;
  const transfers = [...read.value.transfers, ...mempool.value];
  const byAddress = Map.groupBy(transfers, ({ toAddress }) => toAddress);
  for (const address of recipients) {
    const own = byAddress.get(address) ?? [];
    if (!open.includes(address)) heard.transfers.set(address, own);
    else {
      heard.parts.push(own);
      heard.refused.add(address);
    }
  }
  return ok(true);
}

/** The stored walk of an earlier pass, if it was through this source and the source still has its block. */
async function storedWalk(
  second: ChainClient,
  walk: SecondWalk | null,
  source: string,
): Promise<Result<SecondWalk | undefined, Outage>> {
  if (walk?.source !== source) return ok(undefined);
  const block = await second.block(walk.read.height);
  if (!block.ok) return block;
  return ok(block.value?.hash === walk.read.hash ? walk : undefined);
}

function nextOf(walk: SecondWalk | undefined): number | undefined {
  return walk === undefined ? undefined : walk.read.height + 1;
}

/** `last`: the last block read; undefined if there was nothing to read. */
async function scanBlocks(
  deps: WatchDependencies,
  second: ChainClient,
  { network }: Pass,
  { recipients, tip, from }: Range,
): Promise<Result<{ readonly transfers: readonly Transfer[]; readonly last: BlockRef | undefined }, Outage>> {
  // If the source reads whole blocks, asks only for the assets in its index: native coins would cost a request for each block.
  const isByBlock = second.costsBy === "blocks" && network.family !== "bitcoin" && network.nativeBy !== "logs";
  const assets = network.assets.filter(({ contract }) => contract !== null || !isByBlock);
  const untilMs = deps.nowMs() + LONGEST_MS;
  const transfers: Transfer[] = [];
  let last: BlockRef | undefined;
  for (let scans = 0, next = from; scans < SCANS && next <= tip.height && deps.nowMs() <= untilMs; scans++) {
    const scan = await second.scan({ from: next, to: tip, recipients, assets });
    // Keeps what was read before the failure.
    if (!scan.ok) return last === undefined ? scan : ok({ transfers, last });
    const { to } = scan.value;
    if (to.height < next) return err(outage("BEHIND", "the second source made no progress"));
    transfers.push(...scan.value.transfers);
    last = to;
    next = to.height + 1;
  }
  return ok({ transfers, last });
}

/** Asks about the first addresses that no source has answered for, in order, as many as the source and the pass's time allow. */
async function askAddresses(
  deps: WatchDependencies,
  second: ChainClient,
  { network, progress }: Pass,
  { recipients, from, tip, heard }: Range,
): Promise<Result<true, Outage>> {
  const source = deps.pool.nameOf(second);
  const place = await storedPage(second, progress.page, source);
  if (!place.ok) return place;
  const untilMs = deps.nowMs() + LONGEST_MS;
  const begin = (address: string): Reading => {
    if (place.value?.address !== address) return { source, address, from, to: tip, after: null };
    // An invoice that began earlier may be due by now.
    return { ...place.value, from: Math.min(place.value.from, from) };
  };
  const most = Math.min(ADDRESSES_A_PASS, progress.atMost[source] ?? ADDRESSES_A_PASS);
  const rest = [...recipients].filter((address) => !heard.transfers.has(address));
  const { answers, refused, outage } = await askEach(rest.slice(0, most), {
    ask: (address) => readToTip(deps, second, { network, tip, untilMs }, begin(address)),
    control: (answered, failed) =>
      askControl(network, [...answered, ...progress.controls(failed)], (address) =>
        askHistory(second, { address, from, to: tip, assets: network.assets, after: null, pages: 1 }),
      ),
    nowMs: deps.nowMs,
    mostRefused: MOST_REFUSED,
    untilMs,
  });
  for (const [address, { transfers, page }] of answers) {
    if (page === null) heard.transfers.set(address, transfers);
    else {
      heard.parts.push(transfers);
      heard.refused.add(address);
    }
  }
  for (const address of refused.keys()) heard.refused.add(address);
  const first = rest.find((address) => (answers.get(address)?.page ?? null) !== null);
  if (first !== undefined) heard.page = answers.get(first)?.page ?? null;
  progress.noteAnswered(source, answers.size);
  if (outage === undefined) progress.askForMore(source);
  else progress.askForLess(source);
  return outage === undefined ? ok(true) : err(outage);
}

/** The stored position of an earlier pass, if this source gave it and still has the block at which the read began. */
async function storedPage(
  second: ChainClient,
  page: SecondPage | null,
  source: string,
): Promise<Result<SecondPage | undefined, Outage>> {
  if (page?.source !== source) return ok(undefined);
  const block = await second.block(page.to.height);
  if (!block.ok) return block;
  return ok(block.value?.hash === page.to.hash ? page : undefined);
}

/** A read of an address: from where an earlier pass ended, or from its newest page. */
type Reading = Omit<SecondPage, "after"> & { readonly after: string | null };

interface ReadToTip {
  readonly transfers: readonly Transfer[];
  /** Where to continue; null if the history was read to its end. */
  readonly page: SecondPage | null;
}

/** Reads a history to its end, and then what was mined since its first page was read. */
async function readToTip(
  deps: WatchDependencies,
  client: ChainClient,
  within: { readonly network: Network; readonly tip: BlockRef; readonly untilMs: number },
  reading: Reading,
): Promise<Result<ReadToTip, Outage>> {
  const { network, tip, untilMs } = within;
  const { source: _, ...request } = reading;
  const read = await readOn(deps, client, { ...request, assets: network.assets, pages: 1 }, untilMs);
  if (!read.ok) return read;
  const { transfers, next } = read.value;
  if (next !== null) return ok({ transfers, page: { ...reading, after: next } });
  const { to } = reading;
  if (to.height >= tip.height) return ok({ transfers, page: null });
  const newer = await readToTip(deps, client, within, { ...reading, from: to.height + 1, to: tip, after: null });
  if (!newer.ok) return newer;
  return ok({ transfers: [...transfers, ...newer.value.transfers], page: newer.value.page });
}

/** Continues reading a history until its end, or until time or reads are used up; `next` is set if there is more. */
async function readOn(
  { nowMs }: Pick<WatchDependencies, "nowMs">,
  client: ChainClient,
  request: HistoryRequest,
  untilMs: number,
): Promise<Result<History, Outage>> {
  const transfers: Transfer[] = [];
  let { after } = request;
  let pages = 1;
  for (let look = 0; look <= LOOKS; look++) {
    const begunMs = nowMs();
    const part = await askHistory(client, { ...request, after, pages });
    if (!part.ok) return part;
    transfers.push(...part.value.transfers);
    after = part.value.next;
    if (after === null || nowMs() > untilMs) break;
    pages = nowMs() - begunMs > SLOW_MS ? 1 : PAGES;
  }
  return ok({ transfers, next: after });
}
