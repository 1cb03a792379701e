// Before an invoice may expire: a source that found nothing in its index is no proof that there is nothing, so what would expire is asked of a
// second source too, where one is configured (chains.md 1, provider rule e). Blocks that were read whole need none: they cannot leave out
// their own transactions. They prove neither a mempool nor that there is no newer block.
import type { ChainClient } from "../chains/chain-client.ts";
import type { Network } from "../chains/networks.ts";
import { readWithRetry } from "../db/retry.ts";
import { type Outage, outage } from "../lib/fetch-text.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { MINUTE_MS, SECOND_MS } from "../lib/time.ts";
import type { NetworkCursor } from "../payments/cursor.ts";
import type { BlockRef, Transfer } from "../payments/transfer.ts";
import { askEach, MOST_REFUSED } from "./ask-each.ts";
import { askControl, askHistory } from "./by-address/ask-history.ts";
import { applied, type Pass, type Step, stored, type WatchEffects } from "./commit-cursor.ts";
import { blockAt } from "./find-position.ts";
import type { WatchProgress } from "./progress.ts";
import { selectExpiring } from "./store.ts";

/** Addresses that the second source is asked for at once; the next pass goes on behind them. */
const ADDRESSES_A_PASS = 50;
/** Of one address of a second source that is asked by address. */
const PAGES = 8;
/** After so long no more addresses are asked for. */
const LONGEST_MS = 15 * SECOND_MS;
/** A second source that cannot be asked, or refuses an address, holds invoices open for so long, and no longer. */
const HELD_FOR_MS = 5 * MINUTE_MS;
/** How far back it is asked: days of most chains. */
const MOST_BLOCKS = 5_000;

/** Up to which moment everything has been read: `to.passedMs`, or the end of the first invoice that must wait for the second source. */
export async function confirmSilence(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  cursor: NetworkCursor,
  to: BlockRef & { readonly passedMs: number },
): Promise<Step<number>> {
  const { network, progress } = pass;
  const passedMs = Math.max(cursor.passedMs, to.passedMs);
  if (passedMs === cursor.passedMs || !fx.pool.hasSecond()) return ok(passedMs);
  // Any number of invoices may end at one moment: those of it that were asked for are not asked for again.
  const after = progress.silent?.atMs === cursor.passedMs ? progress.silent.position : 0;
  const window = { network: network.name, fromMs: cursor.passedMs, after, beforeMs: passedMs, limit: ADDRESSES_A_PASS };
  const rows = stored(await readWithRetry(fx.sleep, async () => selectExpiring(fx.db, window)));
  if (!rows.ok) return rows;
  // Those behind a full page are asked for by the next pass.
  const last = rows.value.length < ADDRESSES_A_PASS ? undefined : rows.value.at(-1);
  const reachedMs = last?.expiresAtMs ?? passedMs;
  const reached = () => {
    progress.silent = last === undefined ? null : { atMs: last.expiresAtMs, position: last.position };
    return ok(reachedMs);
  };
  const due = rows.value.filter(({ cryptocurrency }) => isIndexed(pass, client, cryptocurrency));
  const [first] = due;
  if (first === undefined) {
    await noteSecond(fx, progress, client);
    return reached();
  }
  const recipients = new Set(due.map(({ address }) => address));
  const areBlocksProved = network.family === "bitcoin" && client.costsBy === "blocks";
  const sinceMs = areBlocksProved ? null : Math.min(...due.map(({ activatedAtMs }) => activatedAtMs));
  const found = await fx.pool.attemptWithout(client, fx.nowMs(), (second) =>
    scanBy(fx, second, pass, { recipients, sinceMs, to }),
  );
  if (!found.ok) {
    progress.unsecondedMs = Math.min(progress.unsecondedMs ?? fx.nowMs(), fx.nowMs());
    return fx.nowMs() - progress.unsecondedMs < HELD_FOR_MS ? ok(first.expiresAtMs) : reached();
  }
  progress.unsecondedMs = null;
  const { transfers, refused } = found.value.value;
  const shared = await onOwnChain(pass, client, transfers);
  if (!shared.ok) return shared;
  const stands = await applied(fx, pass, { transfers: shared.value, seen: [] });
  if (!stands.ok) return stands;
  // Two sources on two forks: what only the other one has is waited for.
  if (shared.value.length < transfers.length) return ok(first.expiresAtMs);
  const open = due.find(({ address }) => refused.has(address));
  if (open !== undefined && isHeld(fx, progress, open.expiresAtMs, passedMs)) return ok(open.expiresAtMs);
  if (open === undefined) progress.refused = null;
  return reached();
}

/** Where nobody needs the second source now: a silence that is over counts for nothing at the next end. */
async function noteSecond(fx: WatchEffects, progress: WatchProgress, client: ChainClient): Promise<void> {
  if (progress.unsecondedMs === null) return;
  const tip = await fx.pool.attemptWithout(client, fx.nowMs(), (second) => second.tip());
  if (tip.ok) progress.unsecondedMs = null;
}

/**
 * Whether the first invoice whose address the second source refuses still waits for it. Each waits for so long by itself, whatever was refused
 * before it ended; once that is over, so does no other that has ended by then.
 */
function isHeld({ nowMs }: WatchEffects, progress: WatchProgress, endsMs: number, passedMs: number): boolean {
  const known = progress.refused;
  const sinceMs = known === null || endsMs > known.upToMs ? nowMs() : Math.min(known.sinceMs, nowMs());
  const isOver = nowMs() - sinceMs >= HELD_FOR_MS;
  progress.refused = { upToMs: Math.max(endsMs, isOver ? passedMs : 0), sinceMs };
  return !isOver;
}

/** Whether the first source found payments of an asset by what it says alone: an index of logs or of addresses, or a mempool. */
function isIndexed({ network }: Pass, client: ChainClient, cryptocurrency: string): boolean {
  if (client.costsBy === "recipients" || network.family === "bitcoin") return true;
  return cryptocurrency !== network.nativeCode || network.nativeBy === "logs";
}

function firstBlock({ blockSeconds, overlapBlocks }: Network, to: BlockRef, sinceMs: number): number {
  const blocks = Math.ceil((to.timeMs - sinceMs) / (blockSeconds * SECOND_MS)) + 2 * overlapBlocks;
  return Math.max(0, to.height - Math.min(MOST_BLOCKS, blocks));
}

interface Seconded {
  readonly transfers: readonly Transfer[];
  /** Addresses that the second source did not answer for, although it answers for others. */
  readonly refused: ReadonlyMap<string, unknown>;
}

async function scanBy(
  fx: WatchEffects,
  second: ChainClient,
  pass: Pass,
  of: { readonly recipients: ReadonlySet<string>; readonly sinceMs: number | null; readonly to: BlockRef },
): Promise<Result<Seconded, Outage>> {
  const { network, progress } = pass;
  const { recipients, sinceMs, to } = of;
  const tip = await second.tip();
  if (!tip.ok) return tip;
  if (tip.value.height < to.height) return err(outage("BEHIND", "the second source is behind the first"));
  const from = sinceMs === null ? to.height : firstBlock(network, to, sinceMs);
  if (second.history !== undefined) {
    const look = (address: string) =>
      askHistory(second, { address, from, to: tip.value, assets: network.assets, after: null, pages: PAGES });
    const answers = await askEach(recipients, {
      ask: look,
      control: (answered, failed) =>
        askControl(network, [...answered, ...progress.good.filter((each) => !failed.has(each))], look),
      nowMs: fx.nowMs,
      mostRefused: MOST_REFUSED,
      untilMs: fx.nowMs() + LONGEST_MS,
    });
    if (answers.outage !== undefined) return err(answers.outage);
    const isWhole = answers.answers.size + answers.refused.size === recipients.size;
    if (!isWhole) return err(outage("TIMEOUT", "the second source is slow"));
    const transfers = [...answers.answers.values()].flatMap((each) => each.transfers);
    return ok({ transfers, refused: answers.refused });
  }
  // Of a source that reads whole blocks, only what its index has: their coins would cost it a request for each block.
  const isByBlock = second.costsBy === "blocks" && network.family !== "bitcoin" && network.nativeBy !== "logs";
  const assets = network.assets.filter(({ contract }) => contract !== null || !isByBlock);
  const scan = await second.scan({ from, to: tip.value, recipients, assets });
  if (!scan.ok) return scan;
  if (scan.value.to.height < to.height) return err(outage("BEHIND", "the second source read less than the first"));
  const mempool = await second.mempool(recipients);
  return mempool.ok ? ok({ transfers: [...scan.value.transfers, ...mempool.value], refused: new Map() }) : mempool;
}

/** Transfers in blocks that the first source has too. */
async function onOwnChain(
  pass: Pass,
  client: ChainClient,
  transfers: readonly Transfer[],
): Promise<Step<readonly Transfer[]>> {
  const shared: Transfer[] = [];
  const hashes = new Map<number, string>();
  for (const transfer of transfers) {
    const { block } = transfer;
    // Above the own tip it is found when that has come as far.
    const isAsked = block !== null && block.height <= pass.tip.height && !hashes.has(block.height);
    const own = isAsked ? await blockAt(pass, client, block.height) : ok(null);
    if (!own.ok) return own;
    if (own.value !== null) hashes.set(own.value.height, own.value.hash);
    const hash = block === null ? undefined : hashes.get(block.height);
    if (hash === undefined || hash === block?.hash) shared.push(transfer);
  }
  return ok(shared);
}
