// Addresses that are read at their own pace: a few in each pass, each from where it stopped. An address rejoins the others once one read covers its
// whole history again. If that takes long, its merchants are notified.

import type { ChainClient, History } from "../../../chains/sources/chain-client.ts";
import type { BlockRef } from "../../../chains/sources/transfer.ts";
import type { Outage } from "../../../lib/fetch-text.ts";
import { derivedId, ulidHead } from "../../../lib/ids.ts";
import { ok, type Result } from "../../../lib/result.ts";
import { isoTime, SECOND_MS } from "../../../lib/time.ts";
import { parseJson } from "../../../lib/typed-json.ts";
import { commit } from "../../../platform/db/batch.ts";
import { readWithRetry } from "../../../platform/db/retry.ts";
import { type Asked, askEach, MOST_REFUSED } from "../ask-each.ts";
import { shownUntilMs } from "../cursor-plan.ts";
import type { WatchEvents } from "../degraded-events.ts";
import { type Pass, type Step, stored, type WatchDependencies } from "../watch-pass.ts";
import { askControl, askHistory, fromOf } from "./ask-history.ts";
import { deleteStuck, putStuck, recordStuck, selectWaiting } from "./store.ts";
import {
  afterEndless,
  afterFailure,
  afterPages,
  afterWalk,
  isEndless,
  isReportDue,
  type StuckAddress,
  shownBy,
  type Walk,
} from "./stuck-address.ts";

/** Pages to read for one address in each pass. */
const PAGES = 10;
/** The longest that a pass spends on all these addresses together. */
const LONGEST_MS = 10 * SECOND_MS;

interface StuckLooks {
  readonly histories: readonly History[];
  /** The rows to be stored. */
  readonly rows: readonly StuckAddress[];
  /** Addresses that were read to the tip, or at which no payment is expected any longer. */
  readonly freed: readonly string[];
}

type Due = StuckAddress & { readonly isWatched: number };
export interface Walked extends History {
  readonly walk: Omit<Walk, "page">;
}

export async function readStuck(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  { rows, source }: { readonly rows: readonly Due[]; readonly source: string },
): Promise<Step<StuckLooks>> {
  const { progress, network, tip } = pass;
  const waiting = rows.filter((row) => row.isWatched === 1).map((row) => ownOf(row, source));
  const stuck = new Set(waiting.map(({ address }) => address));
  const good = progress.controls(stuck);
  const answers = await askEach(waiting, {
    ask: (row) => walkOn(pass, client, { row, source }),
    control: (answered) =>
      askControl(network, [...answered.map(({ address }) => address), ...good], (address) =>
        askHistory(client, { address, from: tip.height, to: tip, assets: network.assets, after: null, pages: 1 }),
      ),
    nowMs: deps.nowMs,
    mostRefused: MOST_REFUSED,
    untilMs: deps.nowMs() + LONGEST_MS,
  });
  const nowMs = deps.nowMs();
  const hasSecond = deps.pool.hasSecond();
  const next = [...answers.answers].map(([row, walked]) => afterLook(pass, { row, walked, nowMs, hasSecond }));
  const failed = [...answers.refused].map(([row, { kind }]) => afterFailure(row, kind, nowMs));
  const unwatched = rows.filter((row) => row.isWatched !== 1).map(({ address }) => address);
  const freed = [...answers.answers.keys()].filter((_, n) => next[n] === undefined).map(({ address }) => address);
  return ok({
    histories: [...answers.answers.values()],
    rows: [...next.flatMap((row) => row ?? []), ...failed],
    freed: [...unwatched, ...freed],
  });
}

function ownOf({ isWatched: _, ...row }: Due, source: string): StuckAddress {
  return { ...row, source };
}

/** Reads more pages of an address, from where this source's own walk stopped. Page tokens from another source cannot be used. */
export async function walkOn(
  pass: Pass,
  client: ChainClient,
  { row, source }: { readonly row: StuckAddress; readonly source: string },
): Promise<Result<Walked, Outage>> {
  const { network, tip, begunMs } = pass;
  const stored = row.walk === null ? null : parseJson(row.walk);
  // Ignores a walk that began in the future: it was written by a clock that was ahead.
  const known = stored?.source === source && stored.begunMs <= begunMs ? stored : null;
  const blockNow = known === null ? ok(null) : await client.block(known.to.height);
  if (!blockNow.ok) return blockNow;
  const walk =
    known !== null && blockNow.value?.hash === known.to.hash ? known : { to: tip, begunMs, page: null, source };
  const ask = (after: string | null, pages: number) =>
    askHistory(client, {
      address: row.address,
      from: fromOf(pass, row.readHeight),
      to: after === null ? tip : walk.to,
      assets: network.assets,
      after,
      pages,
    });
  const history = await ask(walk.page, PAGES);
  // Also reads the first page, which has the newest transfers, so that a recent payment to a flooded address is seen at once if it is on that page.
  const newest = walk.page === null || !history.ok ? history : await ask(null, 1);
  if (!history.ok) return history;
  if (!newest.ok) return newest;
  const transfers =
    walk.page === null ? history.value.transfers : [...history.value.transfers, ...newest.value.transfers];
  return ok({ ...history.value, transfers, walk });
}

/** The row after a read; undefined if one read covered the whole history, so that the address rejoins the others. */
function afterLook(
  pass: Pass,
  of: { readonly row: StuckAddress; readonly walked: Walked; readonly nowMs: number; readonly hasSecond: boolean },
): StuckAddress | undefined {
  const { row, walked, nowMs, hasSecond } = of;
  const { next, transfers } = walked;
  const { to, begunMs } = walked.walk;
  if (next !== null) {
    const walk = shownBy(
      walked.walk,
      transfers.flatMap(({ block }) => block?.height ?? []),
    );
    // Without a second source, all pages of the address are read, even if they seem endless.
    return hasSecond && isEndless(row, walk)
      ? afterEndless(row, nowMs)
      : afterPages(row, { ...walk, page: next }, nowMs);
  }
  return begunMs === pass.begunMs ? undefined : afterWalk(row, to, passedBy(pass, to, begunMs), nowMs);
}

/** The time up to which everything has been read, once a walk that began at `begunMs` has read everything up to the block `to`. */
export function passedBy(pass: Pass, to: BlockRef, begunMs: number): number {
  return pass.network.family === "bitcoin"
    ? shownUntilMs(pass.network, to, begunMs)
    : Math.min(to.timeMs, pass.begunMs);
}

/** Stores the rows of addresses read at their own pace, including new ones, deletes those of `freed` addresses, and notifies merchants when due. */
export async function stuckRows(
  deps: WatchDependencies,
  pass: Pass,
  of: {
    readonly source: string;
    readonly cursor: { readonly height: number; readonly passedMs: number };
    readonly asked: Asked<string, History>;
    readonly looked: StuckLooks;
  },
): Promise<Step<true>> {
  const { source, cursor, asked, looked } = of;
  const nowMs = deps.nowMs();
  const fresh = (address: string): StuckAddress => ({
    network: pass.network.name,
    address,
    source,
    readHeight: cursor.height,
    passedMs: cursor.passedMs,
    walk: null,
    failures: 0,
    sinceMs: nowMs,
    nextAtMs: nowMs,
    reason: "FLOODED",
    toldAtMs: null,
  });
  const refused = [...asked.refused].map(([address, { kind }]) => afterFailure(fresh(address), kind, nowMs));
  const flooded = [...asked.answers].flatMap(([address, { next }]) =>
    next === null
      ? []
      : [afterPages(fresh(address), { to: pass.tip, begunMs: pass.begunMs, page: next, source }, nowMs)],
  );
  const rows = [...looked.rows, ...refused, ...flooded];
  if (rows.length === 0 && looked.freed.length === 0) return ok(true);
  const due = rows.filter((row) => isReportDue(row, nowMs));
  const reports = await reportsOf(deps, pass, due, nowMs);
  if (!reports.ok) return reports;
  const isReported = new Set(due);
  const stamped = rows.map((row) => (isReported.has(row) ? { ...row, toldAtMs: nowMs } : row));
  const { name } = pass.network;
  const written = await readWithRetry(deps.sleep, async () =>
    commit(deps.db, [putStuck(deps.db, stamped), deleteStuck(deps.db, name, looked.freed), ...reports.value]),
  );
  return written.ok ? ok(true) : stored(written);
}

async function reportsOf(deps: WatchDependencies, pass: Pass, rows: readonly StuckAddress[], nowMs: number) {
  if (rows.length === 0) return ok([]);
  const { name } = pass.network;
  const addresses = rows.map(({ address }) => address);
  const waiting = stored(await readWithRetry(deps.sleep, async () => selectWaiting(deps.db, name, addresses)));
  if (!waiting.ok) return waiting;
  const due = waiting.value.flatMap(({ address, merchantId }) => {
    const row = rows.find((each) => each.address === address);
    if (row === undefined) return [];
    const degraded = { network: name, address, degradedSince: isoTime(row.sinceMs), reason: row.reason };
    const data = JSON.stringify(degraded satisfies WatchEvents["wallet.address_degraded"]);
    const id = derivedId("evt", `${ulidHead(row.sinceMs, merchantId)}|${name}|${address}|${merchantId}`);
    return [{ id, merchantId, data }];
  });
  deps.report(`watchers: ${name} has ${rows.length} more addresses that cannot be read for now (${rows[0]?.reason})`);
  return ok([...recordStuck(deps.db, due, nowMs)]);
}
