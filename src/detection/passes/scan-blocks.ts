// Reads a chain block by block, in bounded chunks: scan, apply, and only then move the cursor.

import type { Asset, Network } from "../../chains/registry/networks.ts";
import type { ChainClient, Scan } from "../../chains/sources/chain-client.ts";
import { type BlockRef, type Transfer, transferKey } from "../../chains/sources/transfer.ts";
import { ok } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { readBehind } from "./by-address/read-behind.ts";
import { deleteStuck } from "./by-address/store.ts";
import { confirmSilence } from "./confirm-silence.ts";
import {
  checkpointsAfter,
  chunkBlocks,
  chunkEnd,
  parseCheckpoints,
  printCheckpoints,
  shownUntilMs,
  walkBackBlocks,
} from "./cursor-plan.ts";
import { behind, blockAt, type PlacedCursor } from "./find-position.ts";
import type { Lap } from "./progress.ts";
import { lookAtSome, readUnproved } from "./recheck-payments.ts";
import type { RecipientBook } from "./recipients.ts";
import { refreshRecipients } from "./refresh-recipients.ts";
import { applied, asked, moveTo, type Pass, type Step, stored, type WatchDependencies } from "./watch-pass.ts";

/** A pass that is far behind ends after this time; the next one starts soon. */
const LONGEST_MS = 20 * SECOND_MS;

/**
 * The most new transfers in one chunk, more than one block of any network has. A pass reads what is stored about all of them before it decides about
 * the first one.
 */
const MOST_TRANSFERS = 20_000;

export interface Scanned {
  readonly cursor: PlacedCursor;
  /** `transferKey` of each transfer that this pass found in the mempool. */
  readonly unconfirmed: ReadonlySet<string>;
  /** Whether the pass left some of the source's findings to the next one, which should start soon. */
  readonly hasMore: boolean;
}

/** Reads from the cursor to the tip, or as far as a pass may go. */
export async function scanBlocks(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  from: PlacedCursor,
): Promise<Step<Scanned>> {
  const { tip, progress } = pass;
  const book = await refreshRecipients(deps, pass.network.name, pass.memory);
  if (!book.ok) return book;
  const unproved = await readUnproved(deps, pass, from.height);
  if (!unproved.ok) return unproved;
  const caughtUp = await readBehind(deps, pass, client, from);
  if (!caughtUp.ok) return caughtUp;
  let cursor = from;
  for (;;) {
    const chunk = await scanChunk(deps, pass, { client, book: book.value, cursor });
    if (!chunk.ok) return chunk;
    const read = bounded(chunk.value, cursor);
    const { to } = read;
    const isAtTip = to.height === tip.height;
    const mempool = isAtTip ? await readMempool(deps, pass, book.value, client) : ok(UNREAD);
    if (!mempool.ok) return mempool;
    const transfers = [...read.transfers, ...mempool.value.transfers];
    const found = new Set(read.transfers.map(transferKey));
    const lost = unproved.value.filter(({ blockHeight }) => isWithin(blockHeight, cursor, to));
    const looked = await lookAtSome(
      deps,
      pass,
      client,
      lost.filter((payment) => !found.has(transferKey(payment))),
    );
    if (!looked.ok) return looked;
    const { seen, isWhole } = looked.value;
    const saved = await applied(deps, pass, { transfers, seen });
    if (!saved.ok) return saved;
    const unconfirmed = new Set(mempool.value.transfers.map(transferKey));
    // The next pass, which starts soon, rechecks the rest before the cursor passes their blocks.
    if (!isWhole) return ok({ cursor, unconfirmed, hasMore: true });
    if (!saved.value.isWhole) {
      const moved = await advanceBelow(deps, pass, client, { cursor, read, below: saved.value.below });
      return moved.ok ? ok({ cursor: moved.value, unconfirmed, hasMore: true }) : moved;
    }
    if (isAtTip) progress.setLap(deps.pool.nameOf(client), mempool.value.lap);
    const shownMs = shownUntilMs(pass.network, tip, mempool.value.passedMs);
    const passedMs = pass.network.family === "bitcoin" ? shownMs : to.timeMs;
    const moved = await advance(deps, pass, client, cursor, { ...to, passedMs });
    if (!moved.ok) return moved;
    cursor = moved.value;
    const isRead = isAtTip && (pass.network.family !== "bitcoin" || mempool.value.passedMs > 0);
    const freed = isRead ? await freeAddresses(deps, pass, caughtUp.value) : ok(true);
    if (!freed.ok) return freed;
    if (isAtTip || to !== chunk.value.to || pass.budget.isSpent || deps.nowMs() - pass.begunMs > LONGEST_MS)
      return ok({ cursor, unconfirmed, hasMore: false });
  }
}

/** Ends the separate reads of these addresses: they have now been read as far as all others, including the mempool. */
async function freeAddresses(deps: WatchDependencies, pass: Pass, addresses: readonly string[]): Promise<Step<true>> {
  if (addresses.length === 0) return ok(true);
  const { name } = pass.network;
  const freed = await readWithRetry(deps.sleep, async () => deleteStuck(deps.db, name, addresses));
  return freed.ok ? ok(true) : stored(freed);
}

interface MempoolRead {
  readonly transfers: readonly Transfer[];
  /** Where the next pass continues the read; undefined if it is complete. */
  readonly lap: Lap | undefined;
  /** When the completed read began: everything that was unconfirmed at that time has been seen. 0 if no read was completed. */
  readonly passedMs: number;
}

const UNREAD: MempoolRead = { transfers: [], lap: undefined, passedMs: 0 };

/** Reads the mempool, or the next part of one that is too large for a pass. */
async function readMempool(
  deps: WatchDependencies,
  pass: Pass,
  { addresses }: RecipientBook,
  client: ChainClient,
): Promise<Step<MempoolRead>> {
  const { begunMs } = pass;
  if (client.mempoolPart === undefined) {
    const whole = asked(await client.mempool(addresses));
    return whole.ok ? ok({ transfers: whole.value, lap: undefined, passedMs: begunMs }) : whole;
  }
  const known = pass.progress.lap(deps.pool.nameOf(client));
  const part = asked(await client.mempoolPart(addresses, known?.after ?? null));
  if (!part.ok) return part;
  const { transfers, next } = part.value;
  const lapBegunMs = known?.begunMs ?? begunMs;
  if (next === null) return ok({ transfers, lap: undefined, passedMs: lapBegunMs });
  return ok({ transfers, lap: { begunMs: lapBegunMs, after: next }, passedMs: 0 });
}

interface Chunk {
  readonly transfers: readonly Transfer[];
  readonly to: BlockRef;
}

/**
 * Moves the cursor to the last block that has a new transfer and up to which everything was applied. If only unconfirmed transfers were left, it
 * moves to the end of the chunk. Otherwise it does not move to a later block without transfers, which may be on another branch by now.
 */
async function advanceBelow(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  { cursor, read, below }: { readonly cursor: PlacedCursor; readonly read: Chunk; readonly below: number },
): Promise<Step<PlacedCursor>> {
  const last = below > read.to.height ? read.to : newBlocks(read, cursor).findLast(({ height }) => height < below);
  if (last === undefined) return ok(cursor);
  // The mempool's transfers were not all applied, so they do not count as read.
  return advance(deps, pass, client, cursor, {
    ...last,
    passedMs: pass.network.family === "bitcoin" ? 0 : last.timeMs,
  });
}

/** The blocks of a chunk's new transfers, lowest first. */
function newBlocks({ transfers }: Chunk, { height }: Pick<PlacedCursor, "height">): readonly BlockRef[] {
  return transfers
    .flatMap(({ block }) => (block === null || block.height <= height ? [] : [block]))
    .toSorted((a, b) => a.height - b.height);
}

/** Ends the chunk after the block with the 20,000th transfer, because a pass must hold all transfers in memory. */
export function bounded(chunk: Chunk, cursor: Pick<PlacedCursor, "height">): Chunk {
  const last = newBlocks(chunk, cursor)[MOST_TRANSFERS - 1];
  if (last === undefined || last.height >= chunk.to.height) return chunk;
  const transfers = chunk.transfers.filter(({ block }) => block === null || block.height <= last.height);
  return { transfers, to: last };
}

/** Transfers of the next chunk, and the block up to which it was read. */
async function scanChunk(
  deps: WatchDependencies,
  pass: Pass,
  of: { readonly client: ChainClient; readonly book: RecipientBook; readonly cursor: PlacedCursor },
): Promise<Step<Chunk>> {
  const { network, tip } = pass;
  const { client, book, cursor } = of;
  const recipients = book.addresses;
  const blocks = chunkBlocks(network, book.codes.has(network.nativeCode));
  const end =
    recipients.size === 0 ? tip.height : chunkEnd({ cursorHeight: cursor.height, tipHeight: tip.height, blocks });
  const last = await blockAt(pass, client, end);
  if (!last.ok) return last;
  let to = last.value;
  const transfers: Transfer[] = [];
  if (recipients.size === 0) return ok({ transfers, to });
  for (const { assets, overlapBlocks } of partsOf(network, book.codes)) {
    const from = Math.max(0, cursor.height + 1 - overlapBlocks);
    // Completely read blocks are proved by the hash link. On a Bitcoin-like chain the overlap is therefore read again only if there is a new block.
    const hasNew = to.height > cursor.height;
    if (from > to.height || (network.family === "bitcoin" && !hasNew)) continue;
    const scan = asked(await client.scan({ from, to, recipients, assets }));
    if (!scan.ok) return scan;
    reportUnread(deps, pass, cursor, scan.value);
    transfers.push(...scan.value.transfers);
    if (hasNew && scan.value.to.height <= cursor.height) return behind("read no new block");
    to = scan.value.to;
  }
  return ok({ transfers, to });
}

/** A source that never has balances is logged once for this many blocks: every 20 minutes on ETH. */
const UNREAD_BLOCKS = 100;

/** Logs which blocks were not fully read. Blocks before the watch began are not reported, because they hold none of our payments. */
function reportUnread(
  deps: WatchDependencies,
  { network }: Pass,
  { sinceMs }: PlacedCursor,
  { unread, to }: Scan,
): void {
  if (unread === undefined || to.timeMs <= sinceMs) return;
  const hasRead = unread.to < to.height;
  const isDue = Math.floor(to.height / UNREAD_BLOCKS) > Math.floor((unread.from - 1) / UNREAD_BLOCKS);
  if (!hasRead && !isDue) return;
  const blocks = `${unread.from} to ${unread.to}`;
  deps.report(
    `watchers: ${network.name} has no balances for blocks ${blocks}: payments by contracts in them are not seen`,
  );
}

/**
 * What to scan for, and how many blocks to read again. A source may index logs later than their block, so each pass reads an overlap again. A
 * block's own transactions are in it from the start.
 */
export function partsOf(
  network: Network,
  codes: ReadonlySet<string>,
): readonly { readonly assets: readonly Asset[]; readonly overlapBlocks: number }[] {
  const isNativeWatched = codes.has(network.nativeCode);
  const hasToken = [...codes].some((code) => code !== network.nativeCode);
  const native = network.assets.filter(({ contract }) => contract === null && isNativeWatched);
  // Reading all tokens costs no more than reading one, and also finds payments in the wrong token, for review.
  const tokens = network.assets.filter(({ contract }) => contract !== null && hasToken);
  const isIndexed = network.family === "bitcoin" || network.nativeBy === "logs";
  const parts = isIndexed
    ? [{ assets: [...native, ...tokens], overlapBlocks: network.overlapBlocks }]
    : [
        { assets: tokens, overlapBlocks: network.overlapBlocks },
        { assets: native, overlapBlocks: 0 },
      ];
  return parts.filter(({ assets }) => assets.length > 0);
}

/** Moves the cursor after a chunk, or after a round over all recipients. `passedMs`: the time up to which everything has been read. */
export async function advance(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  cursor: PlacedCursor,
  to: BlockRef & { readonly passedMs: number },
): Promise<Step<PlacedCursor>> {
  const { height, hash } = to;
  const left = { height: cursor.height, hash: cursor.hash };
  const windowBlocks = walkBackBlocks(pass.network);
  const before = parseCheckpoints(cursor.checkpoints);
  const checkpoints = height === left.height ? before : checkpointsAfter(before, left, { height, windowBlocks });
  const passed = await confirmSilence(deps, pass, client, cursor, to);
  if (!passed.ok) return passed;
  const moved = await moveTo(deps, pass, cursor, {
    height,
    hash,
    checkpoints: printCheckpoints(checkpoints),
    passedMs: passed.value,
  });
  return moved.ok ? ok({ ...moved.value, height, hash }) : moved;
}

function isWithin(height: number | null, cursor: PlacedCursor, to: BlockRef): boolean {
  return height !== null && height > cursor.height && height <= to.height;
}
