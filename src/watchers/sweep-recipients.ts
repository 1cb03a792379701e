// Reads a chain by address, from a source that keeps an index of them: some at each tick, the newest always, so that no tick asks for more than
// such a source answers. The cursor moves when a round over all of them is complete, to where the chain stood when the round began: an
// address that has waited for long is asked less often, and its invoice waits with it. Where the round stands is stored with the cursor. An
// address that is refused or flooded leaves the round and is read at its own pace (by-address/read-stuck.ts).
import type { ChainClient, History } from "../chains/chain-client.ts";
import { readWithRetry } from "../db/retry.ts";
import { err, ok } from "../lib/result.ts";
import { SECOND_MS } from "../lib/time.ts";
import { type Transfer, transferKey } from "../payments/transfer.ts";
import { type Asked, askEach, MOST_REFUSED } from "./ask-each.ts";
import { askControl, askHistory, fromOf } from "./by-address/ask-history.ts";
import { readStuck, stuckRows } from "./by-address/read-stuck.ts";
import { selectNewest, selectRoundPage, selectStuckDue } from "./by-address/store.ts";
import { applied, asked, type Pass, type Step, stored, type WatchEffects } from "./commit-cursor.ts";
import { behind, blockAt, type PlacedCursor } from "./find-position.ts";
import { FIRST_PLACE, type Place, type Round } from "./progress.ts";
import { proveByBlocks } from "./prove-payments.ts";
import { advance, type Scanned } from "./scan-blocks.ts";

/** At one request for each, about what a public source answers within a tick. */
const ADDRESSES_A_TICK = 60;
/** Most payers pay within minutes. */
const NEWEST = 20;
/** Rows of one page: any number of invoices may share an address. */
const PAGE = 1_000;
/** Pages of one address: one with more is read at its own pace. */
const PAGES = 4;
/** Of those that are read at their own pace, so many a tick. */
const STUCK_A_TICK = 5;
/** After so long no more addresses are begun. */
const LONGEST_MS = 15 * SECOND_MS;
/** By so much the clock of whoever activates may be ahead of the watcher's. */
const CLOCKS_DIFFER_MS = 10 * SECOND_MS;

export async function sweepRecipients(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  cursor: PlacedCursor,
): Promise<Step<Scanned>> {
  const { progress, tip } = pass;
  const source = fx.pool.nameOf(client);
  const round = roundOf(pass, source, cursor);
  const turn = await readTurn(fx, pass, round);
  if (!turn.ok) return turn;
  const { due, newest, stuck } = turn.value;
  const from = fromOf(pass, cursor.height);
  const answers = await askHistories(fx, pass, client, {
    addresses: inTurn(
      due.map(({ address }) => address),
      newest,
    ).slice(0, progress.atMost[source]),
    from,
  });
  progress.noteAnswered(source, answers.answers.size);
  if (answers.outage !== undefined) return err({ kind: "outage", outage: answers.outage });
  const looked = await readStuck(fx, pass, client, { rows: stuck, source });
  if (!looked.ok) return looked;
  // That the last block still stands when all are answered shows that they tell of one chain.
  const standing = asked(await client.block(tip.height));
  if (!standing.ok) return standing;
  if (standing.value?.hash !== tip.hash) return behind("of two chains at once");
  const transfers = [...answers.answers.values(), ...looked.value.histories].flatMap((each) => each.transfers);
  const stands = await applied(fx, pass, { transfers, seen: [] });
  if (!stands.ok) return stands;
  const written = await stuckRows(fx, pass, { source, cursor, asked: answers, looked: looked.value });
  if (!written.ok) return written;
  const unconfirmed = keysOutside(transfers);
  const next = { ...round, after: placeAfter(round.after, due, answers) };
  const isOver = !turn.value.hasMore && due.every(({ address }) => isSettled(answers, address));
  progress.setRound(source, isOver ? undefined : next);
  const moved = isOver ? await endRound(fx, pass, client, { cursor, round }) : ok(cursor);
  return moved.ok ? ok({ cursor: moved.value, unconfirmed }) : moved;
}

/** Each once, one of the round and one of the newest in turn: neither may take all that a source answers or the time that a pass has. */
function inTurn(due: readonly string[], newest: readonly string[]): readonly string[] {
  const round = [...new Set(due)];
  const pairs = Array.from({ length: Math.max(round.length, newest.length) }, (_, n) => [round[n], newest[n]]);
  return [...new Set(pairs.flat().flatMap((address) => address ?? []))];
}

/** The round of this source that is under way; a new one where the cursor has come further than it would. */
function roundOf({ progress, tip, begunMs }: Pass, source: string, cursor: PlacedCursor): Round {
  const known = progress.round(source);
  if (known !== undefined && known.to.height >= cursor.height && known.to.height <= tip.height) return known;
  return { to: tip, begunMs, after: FIRST_PLACE };
}

interface Turn {
  /** What of the round comes next, in its order. */
  readonly due: readonly (Place & { readonly address: string })[];
  readonly hasMore: boolean;
  readonly newest: readonly string[];
  readonly stuck: Awaited<ReturnType<typeof selectStuckDue>>;
}

async function readTurn(fx: WatchEffects, { network: { name } }: Pass, round: Round): Promise<Step<Turn>> {
  const nowMs = fx.nowMs();
  // Who was activated later was shown an address later: the round says nothing of that, and it comes to its end however many there are.
  const untilMs = round.begunMs + CLOCKS_DIFFER_MS;
  const page = { network: name, nowMs, after: round.after, untilMs, limit: PAGE };
  const read = stored(
    await readWithRetry(fx.sleep, async () =>
      fx.db.batch([
        selectRoundPage(fx.db, page),
        selectNewest(fx.db, name, nowMs, NEWEST),
        selectStuckDue(fx.db, name, nowMs, STUCK_A_TICK),
      ]),
    ),
  );
  if (!read.ok) return read;
  const [rows, newest, stuck] = read.value;
  const addresses = new Set<string>();
  const end = rows.findIndex(({ address }) => addresses.add(address).size > ADDRESSES_A_TICK);
  const due = end < 0 ? rows : rows.slice(0, end);
  return ok({ due, hasMore: end >= 0 || rows.length === PAGE, newest: newest.map(({ address }) => address), stuck });
}

/** Asks for each address by itself. */
async function askHistories(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  of: { readonly addresses: readonly string[]; readonly from: number },
): Promise<Asked<string, History>> {
  const { network, progress, tip: to } = pass;
  const look = (address: string, pages = PAGES) =>
    askHistory(client, { address, from: of.from, to, assets: network.assets, after: null, pages });
  const answers = await askEach(new Set(of.addresses), {
    ask: (address) => look(address),
    control: (answered, failed) =>
      askControl(network, [...answered, ...progress.good.filter((each) => !failed.has(each))], (address) =>
        look(address, 1),
      ),
    nowMs: fx.nowMs,
    mostRefused: MOST_REFUSED,
    untilMs: pass.begunMs + LONGEST_MS,
  });
  progress.noteGood([...answers.answers.keys()]);
  return answers;
}

function isSettled({ answers, refused }: Asked<string, History>, address: string): boolean {
  return answers.has(address) || refused.has(address);
}

/** Up to the first address that is still to be asked. */
function placeAfter(from: Place, due: Turn["due"], answers: Asked<string, History>): Place {
  const first = due.findIndex(({ address }) => !isSettled(answers, address));
  const { activatedAtMs, position } = (first < 0 ? due.at(-1) : due[first - 1]) ?? from;
  return { activatedAtMs, position };
}

function keysOutside(transfers: readonly Transfer[]): ReadonlySet<string> {
  return new Set(transfers.filter(({ block }) => block === null).map(transferKey));
}

/** Moves the cursor to where the chain stood when the round began, unless that block has left the chain meanwhile. */
async function endRound(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  { cursor, round: { to, begunMs } }: { readonly cursor: PlacedCursor; readonly round: Round },
): Promise<Step<PlacedCursor>> {
  const block = await blockAt(pass, client, to.height);
  if (!block.ok) return block;
  if (block.value.hash !== to.hash) return ok(cursor);
  const proved = await proveByBlocks(fx, pass, client, { above: cursor.height, to });
  if (!proved.ok) return proved;
  // Where a mempool is shown, a moment has been passed once all of the round stands.
  const isWhole = proved.value.height === to.height;
  const passedMs = pass.network.family === "bitcoin" && isWhole ? begunMs : 0;
  return advance(fx, pass, client, cursor, {
    ...proved.value,
    passedMs: pass.network.family === "bitcoin" ? passedMs : proved.value.timeMs,
  });
}
