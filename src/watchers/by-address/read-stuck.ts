// Addresses that are read at their own pace (chains.md 3, "One address stops nobody else"): a few at each tick, each on from where it stood, until
// one look reads all of it again; then it is one of all others. Their merchants are told where that takes long.
import type { ChainClient, History } from "../../chains/chain-client.ts";
import { readWithRetry } from "../../db/retry.ts";
import type { EventData } from "../../events/event-data.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import { derivedId, ulidTime } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import { isoTime, SECOND_MS } from "../../lib/time.ts";
import type { BlockRef } from "../../payments/transfer.ts";
import { type Asked, askEach, MOST_REFUSED } from "../ask-each.ts";
import { type Pass, type Step, stored, type WatchEffects } from "../commit-cursor.ts";
import { askControl, askHistory, fromOf } from "./ask-history.ts";
import { deleteStuck, putStuck, selectWaiting, tellStuck } from "./store.ts";
import {
  afterFailure,
  afterPages,
  afterWalk,
  isToBeTold,
  parseWalk,
  type StuckAddress,
  type Walk,
} from "./stuck-address.ts";

/** Pages of one address at a tick. */
const PAGES = 10;
/** What all of them together may take of a pass. */
const LONGEST_MS = 10 * SECOND_MS;

export interface StuckLooks {
  readonly histories: readonly History[];
  /** As they are to be stored. */
  readonly rows: readonly StuckAddress[];
  /** Read to the tip, or waited for by nobody. */
  readonly freed: readonly string[];
}

type Due = StuckAddress & { readonly isWatched: number };
interface Walked extends History {
  readonly walk: Omit<Walk, "page">;
}

export async function readStuck(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  { rows, source }: { readonly rows: readonly Due[]; readonly source: string },
): Promise<Step<StuckLooks>> {
  const { progress, network, tip } = pass;
  const waiting = rows.filter((row) => row.isWatched === 1).map((row) => ownOf(row, source));
  const stuck = new Set(waiting.map(({ address }) => address));
  const good = progress.good.filter((address) => !stuck.has(address));
  const answers = await askEach(waiting, {
    ask: (row) => walkOn(pass, client, row),
    control: (answered) =>
      askControl(network, [...answered.map(({ address }) => address), ...good], (address) =>
        askHistory(client, { address, from: tip.height, to: tip, assets: network.assets, after: null, pages: 1 }),
      ),
    nowMs: fx.nowMs,
    mostRefused: MOST_REFUSED,
    untilMs: fx.nowMs() + LONGEST_MS,
  });
  const nowMs = fx.nowMs();
  const next = [...answers.answers].map(([row, walked]) => afterLook(pass, row, walked, nowMs));
  const failed = [...answers.refused].map(([row, { kind }]) => afterFailure(row, kind, nowMs));
  const unwatched = rows.filter((row) => row.isWatched !== 1).map(({ address }) => address);
  const freed = [...answers.answers.keys()].filter((_, n) => next[n] === undefined).map(({ address }) => address);
  return ok({
    histories: [...answers.answers.values()],
    rows: [...next.flatMap((row) => row ?? []), ...failed],
    freed: [...unwatched, ...freed],
  });
}

/** What another source gave as a place among its pages, this one does not know. */
function ownOf({ isWatched: _, ...row }: Due, source: string): StuckAddress {
  return row.source === source ? row : { ...row, source, walk: null };
}

async function walkOn(pass: Pass, client: ChainClient, row: StuckAddress): Promise<Result<Walked, Outage>> {
  const { network, tip, begunMs } = pass;
  const known = row.walk === null ? null : parseWalk(row.walk);
  const standing = known === null ? ok(null) : await client.block(known.to.height);
  if (!standing.ok) return standing;
  const walk = known !== null && standing.value?.hash === known.to.hash ? known : { to: tip, begunMs, page: null };
  const ask = (after: string | null, pages: number) =>
    askHistory(client, {
      ...{ address: row.address, from: fromOf(pass, row.readHeight), to: after === null ? tip : walk.to },
      ...{ assets: network.assets, after, pages },
    });
  const history = await ask(walk.page, PAGES);
  // What came meanwhile is on top: whoever pays a flooded address is seen at once, as far as one page goes.
  const newest = walk.page === null || !history.ok ? history : await ask(null, 1);
  if (!history.ok) return history;
  if (!newest.ok) return newest;
  const transfers =
    walk.page === null ? history.value.transfers : [...history.value.transfers, ...newest.value.transfers];
  return ok({ ...history.value, transfers, walk });
}

/** Undefined where this very look read all of it: then it is one of all others again. */
function afterLook(pass: Pass, row: StuckAddress, { next, walk }: Walked, nowMs: number): StuckAddress | undefined {
  const { to, begunMs } = walk;
  if (next !== null) return afterPages(row, { to, begunMs, page: next }, nowMs);
  return begunMs === pass.begunMs ? undefined : afterWalk(row, to, passedBy(pass, to, begunMs), nowMs);
}

function passedBy({ network }: Pass, to: BlockRef, begunMs: number): number {
  return network.family === "bitcoin" ? begunMs : to.timeMs;
}

/** Stores how the addresses stand that are read at their own pace, those that came to it now as well, and tells their merchants where it is time. */
export async function stuckRows(
  fx: WatchEffects,
  pass: Pass,
  of: {
    readonly source: string;
    readonly cursor: { readonly height: number; readonly passedMs: number };
    readonly asked: Asked<string, History>;
    readonly looked: StuckLooks;
  },
): Promise<Step<true>> {
  const { source, cursor, asked, looked } = of;
  const nowMs = fx.nowMs();
  const fresh = (address: string): StuckAddress => ({
    ...{ network: pass.network.name, address, source, readHeight: cursor.height, passedMs: cursor.passedMs },
    ...{ walk: null, failures: 0, sinceMs: nowMs, nextAtMs: nowMs, reason: "FLOODED", toldAtMs: null },
  });
  const refused = [...asked.refused].map(([address, { kind }]) => afterFailure(fresh(address), kind, nowMs));
  const flooded = [...asked.answers].flatMap(([address, { next }]) =>
    next === null ? [] : [afterPages(fresh(address), { to: pass.tip, begunMs: pass.begunMs, page: next }, nowMs)],
  );
  const rows = [...looked.rows, ...refused, ...flooded];
  if (rows.length === 0 && looked.freed.length === 0) return ok(true);
  const told = rows.filter((row) => isToBeTold(row, nowMs));
  const telling = await tellingOf(fx, pass, told, nowMs);
  if (!telling.ok) return telling;
  const isTold = new Set(told);
  const stamped = rows.map((row) => (isTold.has(row) ? { ...row, toldAtMs: nowMs } : row));
  const { name } = pass.network;
  const written = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([putStuck(fx.db, stamped), deleteStuck(fx.db, name, looked.freed), ...telling.value]),
  );
  return written.ok ? ok(true) : stored(written);
}

async function tellingOf(fx: WatchEffects, pass: Pass, rows: readonly StuckAddress[], nowMs: number) {
  if (rows.length === 0) return ok([]);
  const { name } = pass.network;
  const addresses = rows.map(({ address }) => address);
  const waiting = stored(await readWithRetry(fx.sleep, async () => selectWaiting(fx.db, name, addresses)));
  if (!waiting.ok) return waiting;
  const told = waiting.value.flatMap(({ address, merchantId }) => {
    const row = rows.find((each) => each.address === address);
    if (row === undefined) return [];
    const degraded = { network: name, address, degradedSince: isoTime(row.sinceMs), reason: row.reason };
    const data = JSON.stringify(degraded satisfies EventData["wallet.address_degraded"]);
    const id = derivedId("evt", `${ulidTime(row.sinceMs)}|${name}|${address}|${merchantId}`);
    return [{ id, merchantId, data }];
  });
  fx.report(`watchers: ${name} has ${rows.length} more addresses that are not read for now (${rows[0]?.reason})`);
  return ok([...tellStuck(fx.db, told, nowMs)]);
}
