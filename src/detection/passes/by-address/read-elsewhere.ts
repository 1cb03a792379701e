// Another source for the network may answer for an address that the current source refuses. Addresses that were refused more than once are read
// through the other sources, a few in each pass. Meanwhile the current source is retried at its own pace (read-stuck.ts) until it answers.
import type { ChainClient } from "../../../chains/sources/chain-client.ts";
import type { BlockRef, Transfer } from "../../../chains/sources/transfer.ts";
import { type Outage, outage } from "../../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../../lib/result.ts";
import { SECOND_MS } from "../../../lib/time.ts";
import { batch } from "../../../platform/db/batch.ts";
import { readWithRetry } from "../../../platform/db/retry.ts";
import { askEach, MOST_REFUSED } from "../ask-each.ts";
import { chunkBlocks } from "../cursor-plan.ts";
import { blockAt } from "../find-position.ts";
import { onOwnChain } from "../find-shared.ts";
import { applied, type Pass, type Step, stored, type WatchDependencies } from "../watch-pass.ts";
import { askControl, askHistory, fromOf } from "./ask-history.ts";
import { passedBy, type Walked, walkOn } from "./read-stuck.ts";
import { putStuck, selectLent } from "./store.ts";
import { afterElsewhere, type StuckAddress } from "./stuck-address.ts";

/** The most addresses that one pass reads through one source that is read by address. */
const ADDRESSES = 40;
/** The most chunks that one pass reads through a source that reads whole blocks, from the lowest height of the addresses on. */
const CHUNKS = 2;
/** Starts reading no more addresses after this time. */
const LONGEST_MS = 10 * SECOND_MS;

/** The answer from another source. */
interface Elsewhere {
  readonly transfers: readonly Transfer[];
  /** The rows of the answered addresses, to be stored if the other source is on the current source's chain. */
  readonly rows: readonly StuckAddress[];
  /** The addresses that the source was asked about, whether it answered or refused. */
  readonly asked: ReadonlySet<string>;
}

/** Reads refused addresses through other sources. The pass does not fail if all other sources fail or refuse them too. */
export async function readElsewhere(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  source: string,
): Promise<Step<true>> {
  if (!deps.pool.hasSecond()) return ok(true);
  const { network, progress, begunMs } = pass;
  const of = { network: network.name, source, nowMs: deps.nowMs(), beforeMs: begunMs };
  const page = { ...of, after: progress.lentAfter, limit: ADDRESSES };
  const lent = stored(await readWithRetry(deps.sleep, async () => selectLent(deps.db, page)));
  if (!lent.ok) return lent;
  const tried: ChainClient[] = [];
  const settled = new Set<string>();
  for (let rest: readonly StuckAddress[] = lent.value; rest.length > 0; ) {
    const rows = rest;
    const found = await deps.pool.attemptWithout(
      client,
      deps.nowMs(),
      (other) => readBy(deps, pass, other, rows),
      tried,
    );
    if (!found.ok) break;
    const { value, client: other } = found.value;
    const kept = await keep(deps, pass, { client, other }, value);
    if (!kept.ok) return kept;
    for (const address of value.asked) settled.add(address);
    tried.push(other);
    const read = new Set(value.rows.map(({ address }) => address));
    rest = rows.filter(({ address }) => !read.has(address));
  }
  // Addresses are in the order of the page, which begins after the last address that was asked for.
  progress.lentAfter = lent.value.findLast(({ address }) => settled.has(address))?.address ?? progress.lentAfter;
  return ok(true);
}

function readBy(
  deps: WatchDependencies,
  pass: Pass,
  other: ChainClient,
  rows: readonly StuckAddress[],
): Promise<Result<Elsewhere, Outage>> {
  return other.history === undefined ? readBlocks(pass, other, rows) : readAddresses(deps, pass, other, rows);
}

async function readAddresses(
  deps: WatchDependencies,
  pass: Pass,
  other: ChainClient,
  rows: readonly StuckAddress[],
): Promise<Result<Elsewhere, Outage>> {
  const { network, progress } = pass;
  const source = deps.pool.nameOf(other);
  const tip = await other.tip();
  if (!tip.ok) return tip;
  const own: Pass = { ...pass, tip: tip.value };
  const lent = new Set(rows.map(({ address }) => address));
  const one = { from: tip.value.height, to: tip.value, assets: network.assets, after: null, pages: 1 };
  const answers = await askEach(rows.slice(0, progress.atMost[source]), {
    ask: (row) => walkOn(own, other, { row, source }),
    control: (answered) =>
      askControl(network, [...answered.map(({ address }) => address), ...progress.controls(lent)], (address) =>
        askHistory(other, { ...one, address }),
      ),
    nowMs: deps.nowMs,
    mostRefused: MOST_REFUSED,
    untilMs: deps.nowMs() + LONGEST_MS,
  });
  progress.noteAnswered(source, answers.answers.size);
  const blockNow = answers.outage === undefined ? await other.block(tip.value.height) : err(answers.outage);
  if (!blockNow.ok) {
    progress.askForLess(source);
    return blockNow;
  }
  if (blockNow.value?.hash !== tip.value.hash) return err(outage("BEHIND", "the answers are about two branches"));
  progress.askForMore(source);
  const read = [...answers.answers].map(([row, walked]) => afterElsewhere(row, readOf(pass, row, walked)));
  const refused = [...answers.refused.keys()];
  return ok({
    transfers: [...answers.answers.values()].flatMap(({ transfers }) => transfers),
    rows: read,
    asked: new Set([...read, ...refused].map(({ address }) => address)),
  });
}

function readOf(pass: Pass, row: StuckAddress, { next, walk }: Walked): Parameters<typeof afterElsewhere>[1] {
  if (next !== null) return { height: row.readHeight, passedMs: row.passedMs, walk: { ...walk, page: next } };
  return { ...readUpTo(pass, walk.to, walk.begunMs), walk: null };
}

async function readBlocks(
  pass: Pass,
  other: ChainClient,
  rows: readonly StuckAddress[],
): Promise<Result<Elsewhere, Outage>> {
  const { network } = pass;
  const tip = await other.tip();
  if (!tip.ok) return tip;
  const own: Pass = { ...pass, tip: tip.value };
  const lowest = Math.min(tip.value.height, ...rows.map(({ readHeight }) => readHeight));
  const end = await blockAt(own, other, Math.min(tip.value.height, lowest + CHUNKS * chunkBlocks(network, true)));
  if (!end.ok) return err(outage("BEHIND", "the source lacks a block below its own tip"));
  const recipients = new Set(rows.map(({ address }) => address));
  const scan = await other.scan({ from: fromOf(pass, lowest), to: end.value, recipients, assets: network.assets });
  if (!scan.ok) return scan;
  const { to } = scan.value;
  const isAtTip = to.height === tip.value.height;
  const mempool = isAtTip ? await other.mempool(recipients) : ok([]);
  if (!mempool.ok) return mempool;
  const read = readUpTo(pass, to, pass.begunMs);
  return ok({
    transfers: [...scan.value.transfers, ...mempool.value],
    rows: rows.map((row) =>
      afterElsewhere(row, { height: read.height, passedMs: isAtTip ? read.passedMs : row.passedMs, walk: null }),
    ),
    asked: recipients,
  });
}

/** Blocks above the current source's tip will be read again: its chain may continue differently. */
function readUpTo(pass: Pass, to: BlockRef, begunMs: number) {
  return { height: Math.min(to.height, pass.tip.height), passedMs: passedBy(pass, to, begunMs) };
}

/** Applies what another source found, and stores its progress for the addresses on which both sources agree. */
async function keep(
  deps: WatchDependencies,
  pass: Pass,
  { client, other }: { readonly client: ChainClient; readonly other: ChainClient },
  { transfers, rows }: Elsewhere,
): Promise<Step<true>> {
  const shared = await onOwnChain(deps, pass, client, { purpose: "elsewhere", transfers });
  if (!shared.ok) return shared;
  const { open } = shared.value;
  const saved = await applied(deps, pass, { transfers: shared.value.transfers, seen: [], isHearsay: true });
  const whole = rows.filter(({ address }) => !open.has(address));
  if (!saved.ok) return saved;
  // The progress is not stored, so the next pass reads the same blocks again.
  if (!saved.value.isWhole || whole.length === 0) return ok(true);
  if (!(await hasOwnTip(pass, other))) return ok(true);
  const written = await readWithRetry(deps.sleep, async () => batch(deps.db, [putStuck(deps.db, whole)]));
  return written.ok ? ok(true) : stored(written);
}

/** Whether the other source has the current source's newest block; if it is behind, the same blocks are read again a little later. */
async function hasOwnTip({ tip }: Pass, other: ChainClient): Promise<boolean> {
  const block = await other.block(tip.height);
  return block.ok && block.value?.hash === tip.hash;
}
