// Reads a chain by address, from a source that keeps an index of addresses. Each pass asks for no more addresses than such a source can answer: the
// next ones of a round over all addresses, and some of each merchant's in turn (turns/turn.ts). When a round is complete, the cursor moves to the tip
// at which the round began. Merchants' turns prefer new addresses, so an older address may be asked about only once per round, and a payment to it is
// then found later. The position in the round is stored with the cursor. An address that is refused or flooded leaves the round and is read at its
// own pace (by-address/read-stuck.ts).
import type { ChainClient, History } from "../../chains/sources/chain-client.ts";
import { type Transfer, transferKey } from "../../chains/sources/transfer.ts";
import { err, ok } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { type Asked, askEach, MOST_REFUSED } from "./ask-each.ts";
import { askControl, askHistory, fromOf } from "./by-address/ask-history.ts";
import { hasHistory, isSourceAtFault } from "./by-address/find-fault.ts";
import { readElsewhere } from "./by-address/read-elsewhere.ts";
import { readStuck, stuckRows } from "./by-address/read-stuck.ts";
import { selectRoundPage, selectStuckDue, selectTakenOver } from "./by-address/store.ts";
import { shownUntilMs } from "./cursor-plan.ts";
import { behind, blockAt, type PlacedCursor } from "./find-position.ts";
import { FIRST_POSITION, type Position, type Round } from "./progress.ts";
import { proveByBlocks } from "./prove-payments.ts";
import { advance, type Scanned } from "./scan-blocks.ts";
import { endTurns } from "./turns/end-turns.ts";
import { lapOf, newQueueOf, selectLaps, selectNewQueues } from "./turns/store.ts";
import { addressesOf, type Turns, turnsOf } from "./turns/turn.ts";
import { applied, asked, type Pass, type Step, stored, type WatchDependencies } from "./watch-pass.ts";

/** The most addresses of the round that one pass asks about. With one request for each, this is about what a public source allows. */
const ADDRESSES_A_TICK = 60;
/** The most rows that one page reads; any number of invoices may share an address. */
const PAGE = 1_000;
/** The most pages to read for one address; an address with more is read at its own pace. */
const PAGES = 4;
/** The most addresses in one pass that are read at their own pace. */
const STUCK_A_TICK = 5;
/** The most addresses in one pass that so far only another source has refused. */
const TAKEN_OVER_A_TICK = 40;
/** Starts reading no more addresses after this time. */
const LONGEST_MS = 15 * SECOND_MS;
/** How far the clock of the worker that activates a payment method may be ahead of the watcher's. */
const CLOCKS_DIFFER_MS = 10 * SECOND_MS;

export async function sweepRecipients(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  cursor: PlacedCursor,
): Promise<Step<Scanned>> {
  const { progress, tip } = pass;
  const source = deps.pool.nameOf(client);
  const round = roundOf(pass, source, cursor);
  const share = await readShare(deps, pass, round, source);
  if (!share.ok) return share;
  const { due, turns, stuck } = share.value;
  const from = fromOf(pass, cursor.height);
  const asking = await askHistories(deps, pass, client, {
    addresses: inTurn(
      due.map(({ address }) => address),
      addressesOf(turns),
    ).slice(0, progress.atMost[source]),
    from,
  });
  if (!asking.ok) return asking;
  const { value: answers } = asking;
  const looked = await readStuck(deps, pass, client, { rows: stuck, source });
  if (!looked.ok) return looked;
  // If the tip is still on the chain after the last answer, all answers are about one chain.
  const blockNow = asked(await client.block(tip.height));
  if (!blockNow.ok) return blockNow;
  if (blockNow.value?.hash !== tip.hash) return behind("the answers are about two branches");
  const transfers = [...answers.answers.values(), ...looked.value.histories].flatMap((each) => each.transfers);
  const saved = await applied(deps, pass, { transfers, seen: [] });
  if (!saved.ok) return saved;
  // The next pass, which starts soon, asks for the same addresses, and continues after what was applied.
  if (!saved.value.isWhole) return ok({ cursor, unconfirmed: keysOutside(transfers), hasMore: true });
  const written = await stuckRows(deps, pass, { source, cursor, asked: answers, looked: looked.value });
  if (!written.ok) return written;
  const elsewhere = await readElsewhere(deps, pass, client, source);
  if (!elsewhere.ok) return elsewhere;
  const turned = await endTurns(deps, pass, turns, (address) => isSettled(answers, address));
  if (!turned.ok) return turned;
  const unconfirmed = keysOutside(transfers);
  const next = { ...round, after: placeAfter(round.after, due, answers) };
  const isOver = !share.value.hasMore && due.every(({ address }) => isSettled(answers, address));
  progress.setRound(source, isOver ? undefined : next);
  const moved = isOver
    ? await endRound(deps, pass, client, { cursor, round: next })
    : await moveOn(deps, pass, client, cursor);
  return moved.ok ? ok({ cursor: moved.value, unconfirmed, hasMore: false }) : moved;
}

/**
 * Alternates between addresses from the round and from the merchants' turns, each address once, so that neither group uses up the source's answers or
 * the pass's time.
 */
function inTurn(due: readonly string[], own: readonly string[]): readonly string[] {
  const round = [...new Set(due)];
  const pairs = Array.from({ length: Math.max(round.length, own.length) }, (_, n) => [round[n], own[n]]);
  return [...new Set(pairs.flat().flatMap((address) => address ?? []))];
}

/** The current round of this source; a new one if the cursor has passed the end of the old one, or the tip is below that end. */
function roundOf({ progress, tip, begunMs }: Pass, source: string, cursor: PlacedCursor): Round {
  const known = progress.round(source);
  if (known !== undefined && known.to.height >= cursor.height && known.to.height <= tip.height) return known;
  return { to: tip, begunMs, after: FIRST_POSITION };
}

interface Share {
  /** The next addresses in the round, in order. */
  readonly due: readonly (Position & { readonly address: string })[];
  readonly hasMore: boolean;
  readonly turns: Turns;
  readonly stuck: Awaited<ReturnType<typeof selectStuckDue>>;
}

async function readShare(
  deps: WatchDependencies,
  { network: { name }, progress }: Pass,
  round: Round,
  source: string,
): Promise<Step<Share>> {
  const nowMs = deps.nowMs();
  // Methods activated after the round began are left to the next round, so that this one always ends.
  const untilMs = round.begunMs + CLOCKS_DIFFER_MS;
  const page = { network: name, nowMs, after: round.after, untilMs, limit: PAGE };
  const read = stored(
    await readWithRetry(deps.sleep, async () =>
      batch(deps.db, [
        selectRoundPage(deps.db, page),
        selectNewQueues(deps.db, name, { nowMs, after: progress.newAfter }),
        selectLaps(deps.db, name, { nowMs, after: progress.lapAfter }),
        selectStuckDue(deps.db, name, nowMs, STUCK_A_TICK),
        selectTakenOver(deps.db, { network: name, source, nowMs, limit: TAKEN_OVER_A_TICK }),
      ]),
    ),
  );
  if (!read.ok) return read;
  const [rows, newQueues, laps, stuckDue, takenOver] = read.value;
  const stuck = [...new Map([...takenOver, ...stuckDue].map((row) => [row.address, row])).values()];
  const addresses = new Set<string>();
  const end = rows.findIndex(({ address }) => addresses.add(address).size > ADDRESSES_A_TICK);
  const due = end < 0 ? rows : rows.slice(0, end);
  const turns = turnsOf(newQueues.map(newQueueOf), laps.map(lapOf));
  return ok({ due, hasMore: end >= 0 || rows.length === PAGE, turns, stuck });
}

/** Asks for the history of each address separately; fails if the source is at fault rather than the addresses. */
async function askHistories(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  of: { readonly addresses: readonly string[]; readonly from: number },
): Promise<Step<Asked<string, History>>> {
  const { network, progress, tip: to } = pass;
  const look = (address: string, pages = PAGES) =>
    askHistory(client, { address, from: of.from, to, assets: network.assets, after: null, pages });
  const answers = await askEach(new Set(of.addresses), {
    ask: (address) => look(address),
    control: (answered, failed) =>
      askControl(
        network,
        [...progress.held.filter((each) => !failed.has(each)), ...answered, ...progress.controls(failed)],
        (address) => look(address, 1),
      ),
    nowMs: deps.nowMs,
    mostRefused: MOST_REFUSED,
    untilMs: pass.begunMs + LONGEST_MS,
  });
  const held = [...answers.answers].flatMap(([address, history]) => (hasHistory(history) ? [address] : []));
  progress.noteGood([...answers.answers.keys()], held);
  progress.noteAnswered(deps.pool.nameOf(client), answers.answers.size);
  if (answers.outage !== undefined) return err({ kind: "outage", outage: answers.outage });
  const [refusal] = answers.refused.values();
  const isAtFault = refusal !== undefined && (await isSourceAtFault(deps, pass, client, answers));
  return isAtFault ? err({ kind: "outage", outage: refusal, isAnswering: true }) : ok(answers);
}

function isSettled({ answers, refused }: Asked<string, History>, address: string): boolean {
  return answers.has(address) || refused.has(address);
}

/** The position just before the first address that is still to be asked about. */
function placeAfter(from: Position, due: Share["due"], answers: Asked<string, History>): Position {
  const first = due.findIndex(({ address }) => !isSettled(answers, address));
  const { activatedAtMs, position } = (first < 0 ? due.at(-1) : due[first - 1]) ?? from;
  return { activatedAtMs, position };
}

function keysOutside(transfers: readonly Transfer[]): ReadonlySet<string> {
  return new Set(transfers.filter(({ block }) => block === null).map(transferKey));
}

/** Moves the cursor to the tip at which the round began, unless that block has left the chain meanwhile. */
async function endRound(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  { cursor, round }: { readonly cursor: PlacedCursor; readonly round: Round },
): Promise<Step<PlacedCursor>> {
  const { to, begunMs } = round;
  const block = await blockAt(pass, client, to.height);
  if (!block.ok) return block;
  if (block.value.hash !== to.hash) return ok(cursor);
  const proved = await proveByBlocks(deps, pass, client, { above: cursor.height, to });
  if (!proved.ok) return proved;
  const { value: reached } = proved;
  const source = deps.pool.nameOf(client);
  // The round has ended, but is kept until all payments undone by a fork have been rechecked.
  pass.progress.setRound(source, reached === undefined ? round : undefined);
  if (reached === undefined) return ok(cursor);
  // On a network with a mempool, time only advances once the whole round is stored and proved.
  const isWhole = reached.height === to.height;
  const wholeMs = isWhole ? shownUntilMs(pass.network, to, begunMs) : 0;
  const passedMs = pass.network.family === "bitcoin" ? wholeMs : reached.timeMs;
  pass.progress.unseconded = { source, to: reached, passedMs };
  return advance(deps, pass, client, cursor, { ...reached, passedMs });
}

/**
 * Runs in each pass that does not end a round. When the last round began, more invoices may have ended than a second source can be asked about at
 * once, so each pass asks about some of them.
 */
async function moveOn(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  cursor: PlacedCursor,
): Promise<Step<PlacedCursor>> {
  const { unseconded } = pass.progress;
  if (unseconded === null) return ok(cursor);
  const { source, to, passedMs } = unseconded;
  const isLeft = source === deps.pool.nameOf(client) && to.hash === cursor.hash && passedMs > cursor.passedMs;
  if (!isLeft) pass.progress.unseconded = null;
  return isLeft ? advance(deps, pass, client, cursor, { ...to, passedMs }) : ok(cursor);
}
