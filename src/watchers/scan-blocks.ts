// Reads a chain block by block, in bounded pieces: scan, apply, and only then move the cursor (reliability.md 4).
import type { ChainClient, Scan } from "../chains/chain-client.ts";
import type { Asset, Network } from "../chains/networks.ts";
import { readWithRetry } from "../db/retry.ts";
import { ok } from "../lib/result.ts";
import { SECOND_MS } from "../lib/time.ts";
import { type BlockRef, type Transfer, transferKey } from "../payments/transfer.ts";
import { readBehind } from "./by-address/read-behind.ts";
import { deleteStuck } from "./by-address/store.ts";
import { applied, asked, moveTo, type Pass, type Step, stored, type WatchEffects } from "./commit-cursor.ts";
import { confirmSilence } from "./confirm-silence.ts";
import {
  checkpointsAfter,
  parseCheckpoints,
  pieceBlocks,
  pieceEnd,
  printCheckpoints,
  walkBackBlocks,
} from "./cursor-plan.ts";
import { behind, blockAt, type PlacedCursor } from "./find-position.ts";
import { lookAtUnproved, readUnproved } from "./look-again.ts";
import type { Lap } from "./progress.ts";
import type { RecipientBook } from "./recipients.ts";
import { refreshRecipients } from "./refresh-recipients.ts";

/** A pass that is far behind ends after so long; the next one comes soon. */
const LONGEST_MS = 20 * SECOND_MS;

/** New ones of one pass: 1,000 that nobody asked for take some 300 statements of storage, of which an invocation has 1,000. */
const MOST_TRANSFERS = 1_000;

export interface Scanned {
  readonly cursor: PlacedCursor;
  /** `transferKey` of what was seen in the mempool just now. */
  readonly unconfirmed: ReadonlySet<string>;
}

/** Reads on from the cursor to the tip, or as far as a pass may go. */
export async function scanBlocks(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  from: PlacedCursor,
): Promise<Step<Scanned>> {
  const { tip, progress } = pass;
  const book = await refreshRecipients(fx, pass.network.name, pass.memory);
  if (!book.ok) return book;
  const unproved = await readUnproved(fx, pass, from.height);
  if (!unproved.ok) return unproved;
  const caughtUp = await readBehind(fx, pass, client, from);
  if (!caughtUp.ok) return caughtUp;
  let cursor = from;
  for (;;) {
    const piece = await scanPiece(fx, pass, { client, book: book.value, cursor });
    if (!piece.ok) return piece;
    const read = bounded(piece.value, cursor);
    const { to } = read;
    const isAtTip = to.height === tip.height;
    const mempool = isAtTip ? await readMempool(fx, pass, book.value, client) : ok(UNREAD);
    if (!mempool.ok) return mempool;
    const transfers = [...read.transfers, ...mempool.value.transfers];
    const found = new Set(read.transfers.map(transferKey));
    const lost = unproved.value.filter(({ blockHeight }) => isWithin(blockHeight, cursor, to));
    const seen = await lookAtUnproved(
      fx,
      pass,
      client,
      lost.filter((payment) => !found.has(transferKey(payment))),
    );
    if (!seen.ok) return seen;
    const stands = await applied(fx, pass, { transfers, seen: seen.value });
    if (!stands.ok) return stands;
    if (isAtTip) progress.setLap(fx.pool.nameOf(client), mempool.value.lap);
    const passedMs = pass.network.family === "bitcoin" ? mempool.value.passedMs : to.timeMs;
    const moved = await advance(fx, pass, client, cursor, { ...to, passedMs });
    if (!moved.ok) return moved;
    cursor = moved.value;
    const isRead = isAtTip && (pass.network.family !== "bitcoin" || mempool.value.passedMs > 0);
    const freed = isRead ? await freeAddresses(fx, pass, caughtUp.value) : ok(true);
    if (!freed.ok) return freed;
    if (isAtTip || to !== piece.value.to || fx.nowMs() - pass.begunMs > LONGEST_MS)
      return ok({ cursor, unconfirmed: new Set(mempool.value.transfers.map(transferKey)) });
  }
}

/** They have been read like all others, the mempool included. */
async function freeAddresses(fx: WatchEffects, pass: Pass, addresses: readonly string[]): Promise<Step<true>> {
  if (addresses.length === 0) return ok(true);
  const { name } = pass.network;
  const freed = await readWithRetry(fx.sleep, async () => deleteStuck(fx.db, name, addresses));
  return freed.ok ? ok(true) : stored(freed);
}

interface MempoolRead {
  readonly transfers: readonly Transfer[];
  /** The reading that goes on at the next pass; undefined where it has come to its end. */
  readonly lap: Lap | undefined;
  /** When the reading that came to its end began: what was unconfirmed then has been seen. 0 where none did. */
  readonly passedMs: number;
}

const UNREAD: MempoolRead = { transfers: [], lap: undefined, passedMs: 0 };

/** The mempool, or the next part of one that is too large for a pass. */
async function readMempool(
  fx: WatchEffects,
  pass: Pass,
  { addresses }: RecipientBook,
  client: ChainClient,
): Promise<Step<MempoolRead>> {
  const { begunMs } = pass;
  if (client.mempoolPart === undefined) {
    const whole = asked(await client.mempool(addresses));
    return whole.ok ? ok({ transfers: whole.value, lap: undefined, passedMs: begunMs }) : whole;
  }
  const known = pass.progress.lap(fx.pool.nameOf(client));
  const part = asked(await client.mempoolPart(addresses, known?.after ?? null));
  if (!part.ok) return part;
  const { transfers, next } = part.value;
  const lapBegunMs = known?.begunMs ?? begunMs;
  if (next === null) return ok({ transfers, lap: undefined, passedMs: lapBegunMs });
  return ok({ transfers, lap: { begunMs: lapBegunMs, after: next }, passedMs: 0 });
}

interface Piece {
  readonly transfers: readonly Transfer[];
  readonly to: BlockRef;
}

/** The piece up to the block in which it has had enough: whoever sends thousands of worthless ones makes a pass shorter, not longer. */
function bounded(piece: Piece, cursor: PlacedCursor): Piece {
  const blocks = piece.transfers
    .flatMap(({ block }) => (block === null || block.height <= cursor.height ? [] : [block]))
    .toSorted((a, b) => a.height - b.height);
  const last = blocks[MOST_TRANSFERS - 1];
  if (last === undefined || last.height >= piece.to.height) return piece;
  const transfers = piece.transfers.filter(({ block }) => block === null || block.height <= last.height);
  return { transfers, to: last };
}

/** Transfers of the next piece, and the block up to which all of it was read. */
async function scanPiece(
  fx: WatchEffects,
  pass: Pass,
  of: { readonly client: ChainClient; readonly book: RecipientBook; readonly cursor: PlacedCursor },
): Promise<Step<Piece>> {
  const { network, tip } = pass;
  const { client, book, cursor } = of;
  const recipients = book.addresses;
  const blocks = pieceBlocks(network, book.codes.has(network.nativeCode));
  const end =
    recipients.size === 0 ? tip.height : pieceEnd({ cursorHeight: cursor.height, tipHeight: tip.height, blocks });
  const last = await blockAt(pass, client, end);
  if (!last.ok) return last;
  let to = last.value;
  const transfers: Transfer[] = [];
  if (recipients.size === 0) return ok({ transfers, to });
  for (const { assets, overlapBlocks } of partsOf(network, book.codes)) {
    const from = Math.max(0, cursor.height + 1 - overlapBlocks);
    // The hash link proves blocks that were read whole; those of a mempool's chain are read again once for every new block.
    const hasNew = to.height > cursor.height;
    if (from > to.height || (network.family === "bitcoin" && !hasNew)) continue;
    const scan = asked(await client.scan({ from, to, recipients, assets }));
    if (!scan.ok) return scan;
    reportUntold(fx, pass, cursor, scan.value);
    transfers.push(...scan.value.transfers);
    if (hasNew && scan.value.to.height <= cursor.height) return behind("read no new block");
    to = scan.value.to;
  }
  return ok({ transfers, to });
}

/** Of a source that tells of no block at all, a line for every so many of them: every 20 minutes on ETH. */
const UNTOLD_BLOCKS = 100;

/** Says what was not seen. Blocks from before the watch began hold no payment of ours. */
function reportUntold(fx: WatchEffects, { network }: Pass, { sinceMs }: PlacedCursor, { untold, to }: Scan): void {
  if (untold === undefined || to.timeMs <= sinceMs) return;
  const hasTold = untold.to < to.height;
  const isDue = Math.floor(to.height / UNTOLD_BLOCKS) > Math.floor((untold.from - 1) / UNTOLD_BLOCKS);
  if (!hasTold && !isDue) return;
  const blocks = `${untold.from} to ${untold.to}`;
  fx.report(`watchers: ${network.name} has no balances of blocks ${blocks}: what contracts paid in them is not seen`);
}

/**
 * What to scan for, and how far back again. Logs are indexed by the source, which may come after the block, so an overlap is read again at
 * each pass. A block's own transactions are in it from the start.
 */
export function partsOf(
  network: Network,
  codes: ReadonlySet<string>,
): readonly { readonly assets: readonly Asset[]; readonly overlapBlocks: number }[] {
  const isNativeWatched = codes.has(network.nativeCode);
  const hasToken = [...codes].some((code) => code !== network.nativeCode);
  const native = network.assets.filter(({ contract }) => contract === null && isNativeWatched);
  // All tokens cost as much as one, and a payment in the wrong one is then seen for review.
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

/** The cursor after a piece, or after a round over all recipients. `passedMs`: everything up to that moment has been read by now. */
export async function advance(
  fx: WatchEffects,
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
  const passed = await confirmSilence(fx, pass, client, cursor, to);
  if (!passed.ok) return passed;
  const moved = await moveTo(fx, pass, cursor, {
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
