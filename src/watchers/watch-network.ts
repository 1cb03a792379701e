// One pass over one network (reliability.md 4; chains.md 1): bounded, safe to run twice, and nothing is lost wherever it dies, because the
// cursor moves only after what was read stands.
import type { ChainClient } from "../chains/chain-client.ts";
import type { Network } from "../chains/networks.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Outage } from "../lib/fetch-text.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { NetworkCursor } from "../payments/cursor.ts";
import {
  asked,
  type Pass,
  type Step,
  type Stop,
  stored,
  type WatchEffects,
  type WatchMemory,
} from "./commit-cursor.ts";
import { isTipOld } from "./cursor-plan.ts";
import { hasLaggedLong, isOvertaken } from "./find-overtaken.ts";
import { behind, findPosition } from "./find-position.ts";
import { lookAtDue } from "./look-again.ts";
import { WatchProgress } from "./progress.ts";
import { reportOutage } from "./report-outage.ts";
import { scanBlocks } from "./scan-blocks.ts";
import { noteTick, restIfIdle, selectCursor } from "./store.ts";
import { sweepRecipients } from "./sweep-recipients.ts";

export type PassOutcome =
  /** Nothing is watched: nobody needs to look until an activation. */
  | { readonly kind: "resting" }
  | { readonly kind: "read"; readonly isBehind: boolean }
  /** No source could be read. */
  | { readonly kind: "failed"; readonly outage: string | null }
  /** Our own storage, or another writer: the next pass finds out. */
  | { readonly kind: "interrupted" };

export async function runPass(fx: WatchEffects, network: Network, memory: WatchMemory): Promise<PassOutcome> {
  const begunMs = fx.nowMs();
  const opened = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([restIfIdle(fx.db, network.name, begunMs), selectCursor(fx.db, network.name)]),
  );
  if (!opened.ok) return { kind: "interrupted" };
  const [, [cursor]] = opened.value;
  if (cursor === undefined || cursor.isResting) {
    memory.forget();
    return { kind: "resting" };
  }
  const progress = new WatchProgress(cursor.progress);
  fx.pool.resume(progress.sources);
  // A pause that the pool keeps is no news of a source.
  if (fx.pool.available(begunMs).length === 0) return failed(fx, cursor, progress);
  let attempts = 0;
  const answered = await fx.pool.attempt(begunMs, (client) => {
    // What a first attempt wrote before its source failed, the second must see.
    const known = attempts++ === 0 ? cursor : undefined;
    return attempt(fx, { network, memory, progress, begunMs, cursor: known }, client);
  });
  progress.sources = fx.pool.states().some(({ failures }) => failures > 0) ? fx.pool.states() : [];
  if (!answered.ok) {
    progress.failures++;
    return failed(fx, { ...cursor, lastOutage: answered.error.kind }, progress);
  }
  const { value: end } = answered.value;
  if ("kind" in end) return { kind: "interrupted" };
  progress.failures = 0;
  return read(fx, network, { cursor, end, progress });
}

interface Attempt {
  readonly network: Network;
  readonly memory: WatchMemory;
  readonly progress: WatchProgress;
  readonly begunMs: number;
  /** As read; undefined where it must be read again. */
  readonly cursor: NetworkCursor | undefined;
}

interface PassEnd {
  readonly cursor: NetworkCursor;
  readonly isBehind: boolean;
}

/** The whole of a pass through one source; what is not the source's fault does not count against it. */
async function attempt(fx: WatchEffects, of: Attempt, client: ChainClient): Promise<Result<PassEnd | Stop, Outage>> {
  const end = await readChain(fx, of, client);
  const source = fx.pool.nameOf(client);
  if (end.ok) {
    of.progress.askForMore(source);
    return end;
  }
  if (end.error.kind !== "outage") return ok(end.error);
  const { outage } = end.error;
  // A source that is behind is no better for being asked for less.
  if (outage.kind !== "BEHIND") of.progress.askForLess(source);
  return err(outage);
}

async function readChain(fx: WatchEffects, of: Attempt, client: ChainClient): Promise<Step<PassEnd>> {
  const { network, memory, progress, begunMs } = of;
  const tip = asked(await client.tip());
  if (!tip.ok) return tip;
  const isOld = isTipOld(network, tip.value.timeMs, fx.nowMs());
  if (isOld && (await isOvertaken(fx, client, tip.value)))
    return behind("an old tip, and another source has a newer one");
  const finalized = asked(await client.finalizedHeight());
  if (!finalized.ok) return finalized;
  const current = of.cursor === undefined ? await readCursor(fx, network) : ok(of.cursor);
  if (!current.ok) return current;
  const pass: Pass = { network, memory, progress, begunMs, tip: tip.value, finalizedHeight: finalized.value };
  const placed = await findPosition(fx, pass, client, current.value);
  if (!placed.ok) return placed;
  const { isLagging } = placed.value;
  if (
    hasLaggedLong(progress, fx.pool.nameOf(client), isLagging, fx.nowMs()) &&
    (await isOvertaken(fx, client, tip.value))
  )
    return behind("below the cursor for minutes, and another source is not");
  const readOn = client.history === undefined ? scanBlocks : sweepRecipients;
  const scanned = isLagging
    ? ok({ cursor: placed.value.cursor, unconfirmed: new Set<string>() })
    : await readOn(fx, pass, client, placed.value.cursor);
  if (!scanned.ok) return scanned;
  const { unconfirmed } = scanned.value;
  const { height } = scanned.value.cursor;
  // A source below the cursor may be on a branch that lost: what it has in blocks above the last shared one proves nothing.
  const due = isLagging
    ? ok(false)
    : await lookAtDue(fx, pass, client, { provenHeight: Math.min(height, tip.value.height), unconfirmed });
  if (!due.ok) return due;
  const isBehind = due.value || (client.costsBy === "blocks" && height < tip.value.height);
  const seen = { tipHeight: tip.value.height, tipTimeMs: tip.value.timeMs, finalizedHeight: finalized.value };
  return ok({ cursor: { ...scanned.value.cursor, ...seen }, isBehind });
}

async function readCursor(fx: WatchEffects, network: Network): Promise<Step<NetworkCursor>> {
  const rows = stored(await readWithRetry(fx.sleep, async () => selectCursor(fx.db, network.name)));
  if (!rows.ok) return rows;
  const [cursor] = rows.value;
  return cursor === undefined || cursor.isResting ? err({ kind: "lost" }) : ok(cursor);
}

/** A pass that read its chain: the tick, and how fresh the source is. */
async function read(
  fx: WatchEffects,
  network: Network,
  of: { readonly cursor: NetworkCursor; readonly end: PassEnd; readonly progress: WatchProgress },
): Promise<PassOutcome> {
  const { progress } = of;
  const nowMs = fx.nowMs();
  const { tipTimeMs } = of.end.cursor;
  const isOld = tipTimeMs !== null && isTipOld(network, tipTimeMs, nowMs);
  const degradedSinceMs = isOld ? (of.cursor.degradedSinceMs ?? tipTimeMs) : null;
  const lastOutage = isOld ? "BEHIND" : null;
  const row = { ...of.end.cursor, tickedAtMs: nowMs, degradedSinceMs, lastOutage };
  if (isOld) await reportOutage(fx, row, progress);
  // A cursor that moved has noted the tick with it.
  const isTicked = of.end.cursor.tickedAtMs !== of.cursor.tickedAtMs && degradedSinceMs === of.cursor.degradedSinceMs;
  const isNoted = isTicked && progress.print() === of.end.cursor.progress;
  const noted = isNoted ? ok(true) : await note(fx, row, progress);
  return noted.ok ? { kind: "read", isBehind: of.end.isBehind } : { kind: "interrupted" };
}

/** A pass without a source: since when, a word to those who wait for money there, and the tick. */
async function failed(fx: WatchEffects, cursor: NetworkCursor, progress: WatchProgress): Promise<PassOutcome> {
  const nowMs = fx.nowMs();
  const row = { ...cursor, tickedAtMs: nowMs, degradedSinceMs: cursor.degradedSinceMs ?? nowMs };
  // The events of an episode have their ids by its begin, so that is stored before anybody is told of it.
  if (cursor.degradedSinceMs !== null) await reportOutage(fx, row, progress);
  await note(fx, row, progress);
  return { kind: "failed", outage: row.lastOutage };
}

function note(fx: WatchEffects, row: NetworkCursor, progress: WatchProgress) {
  return readWithRetry(fx.sleep, async () => noteTick(fx.db, { ...row, progress: progress.print() }));
}
