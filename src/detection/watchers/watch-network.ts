// One pass over one network: bounded, safe to run twice, and safe to abort anywhere, because the cursor moves only after what was read is
// stored.

import type { Network } from "../../chains/registry/networks.ts";
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { selectCursor } from "../../commerce/cursors/store.ts";
import { isAsleep } from "../../commerce/settlement/closing.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { StatementBudget } from "../../platform/db/statement-budget.ts";
import { lowerStuckAhead } from "../passes/by-address/store.ts";
import { isTipOld } from "../passes/cursor-plan.ts";
import { hasLaggedLong, isOvertaken } from "../passes/find-overtaken.ts";
import { behind, findPosition } from "../passes/find-position.ts";
import { PASS_STATEMENTS } from "../passes/pass-budget.ts";
import { WatchProgress } from "../passes/progress.ts";
import { lookAtDue } from "../passes/recheck-payments.ts";
import { reportOutage } from "../passes/report-outage.ts";
import { scanBlocks } from "../passes/scan-blocks.ts";
import { lowerAhead, noteTick, restIfIdle } from "../passes/store.ts";
import { sweepRecipients } from "../passes/sweep-recipients.ts";
import {
  asked,
  type Pass,
  type Step,
  type Stop,
  stored,
  type WatchDependencies,
  type WatchMemory,
} from "../passes/watch-pass.ts";
import { rereadStep } from "../rereads/read-range.ts";
import type { Reread } from "../rereads/reread.ts";
import { selectReread } from "../rereads/store.ts";

export type PassOutcome =
  /** Nothing is watched: no pass is needed until an activation. */
  | { readonly kind: "resting"; readonly isRereading?: true }
  /** An operator has paused the network, or an import after a restore is running: no pass is needed until that ends. */
  | { readonly kind: "paused" }
  | { readonly kind: "read"; readonly isBehind: boolean }
  /** No source could be read. */
  | { readonly kind: "failed"; readonly outage: string | null }
  /** Our own storage failed or another writer was faster: the next pass retries. */
  | { readonly kind: "interrupted" };

/** If a pass throws, because of a bug or an unreadable row, records its tick first and then rethrows. */
export async function runPass(deps: WatchDependencies, network: Network, memory: WatchMemory): Promise<PassOutcome> {
  const begunMs = deps.nowMs();
  // Checked before anything is written, so that nothing changes: neither the cursor, nor the tick, nor whether a network rests.
  if (await deps.isRestoring?.()) {
    memory.forget();
    return { kind: "paused" };
  }
  const budget = new StatementBudget(deps.db.meter, PASS_STATEMENTS.scan);
  const opened = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [
      restIfIdle(deps.db, network.name, begunMs),
      selectCursor(deps.db, network.name),
      selectReread(deps.db, network.name),
    ]),
  );
  if (!opened.ok) return { kind: "interrupted" };
  const [, [cursor], [reread]] = opened.value;
  if (cursor !== undefined && cursor.pausedAtMs !== null) {
    memory.forget();
    return { kind: "paused" };
  }
  const outcome = await scanPass(deps, { network, memory, begunMs, budget, cursor });
  if (reread === undefined) {
    memory.reread = undefined;
    return outcome;
  }
  return rereadBeside(deps, { network, memory, budget, outcome }, reread);
}

/** Continues reading from the cursor, unless the network rests. */
async function scanPass(deps: WatchDependencies, of: Omit<Attempt, "progress">): Promise<PassOutcome> {
  const { cursor, memory } = of;
  if (cursor === undefined || cursor.isResting) {
    memory.forget();
    return { kind: "resting" };
  }
  try {
    return await passFrom(deps, { ...of, cursor, progress: progressOf(deps, cursor) });
  } catch (error) {
    // The progress of a pass that threw cannot be trusted: uses the stored progress.
    await broken(deps, cursor, progressOf(deps, cursor));
    throw error;
  }
}

/** Reads the next step of a range that an operator asked for, after a scan that did not fail. */
async function rereadBeside(
  deps: WatchDependencies,
  of: Pick<Attempt, "network" | "memory" | "budget"> & { readonly outcome: PassOutcome },
  reread: Reread,
): Promise<PassOutcome> {
  const { network, memory, outcome } = of;
  const budget = of.budget.upTo(PASS_STATEMENTS.reread);
  if (outcome.kind !== "read" && outcome.kind !== "resting") return outcome;
  const rows = await readWithRetry(deps.sleep, async () => selectCursor(deps.db, network.name));
  if (!rows.ok) return outcome;
  const [cursor] = rows.value;
  const hasMore = await rereadStep(deps, { network, memory, cursor, budget }, reread);
  if (!hasMore) return outcome;
  return outcome.kind === "read" ? { kind: "read", isBehind: true } : { kind: "resting", isRereading: true };
}

async function passFrom(
  deps: WatchDependencies,
  of: Attempt & { readonly cursor: NetworkCursor },
): Promise<PassOutcome> {
  const { network, begunMs, progress } = of;
  const taken = await takeBackAhead(deps, of.cursor, begunMs);
  if (!taken.ok) return { kind: "interrupted" };
  const cursor = taken.value;
  progress.endAhead(begunMs);
  // Time asleep does not count as waiting time.
  if (isAsleep(cursor.tickedAtMs, begunMs)) progress.endHolds();
  deps.pool.resume(progress.sources);
  // The pool has paused every source, so there is nothing new to record about them.
  if (deps.pool.available(begunMs).length === 0) return failed(deps, cursor, progress);
  let attempts = 0;
  const answered = await deps.pool.attempt(begunMs, (client) => {
    // If the first source fails, the attempt through the second must read what the first one wrote.
    const known = attempts++ === 0 ? cursor : undefined;
    return attempt(deps, { ...of, cursor: known }, client);
  });
  // The source of this pass was noted with its newest block, before the cursor moved. Facts that are less than a minute newer cause no further write.
  progress.noteSources(deps.pool.records(), MINUTE_MS);
  progress.sources = deps.pool.states().some(({ failures }) => failures > 0) ? deps.pool.states() : [];
  if (!answered.ok) {
    progress.failures++;
    return failed(deps, { ...cursor, lastOutage: answered.error.kind }, progress);
  }
  const { value: end } = answered.value;
  if ("kind" in end) {
    if (end.kind === "storage") await broken(deps, cursor, progress);
    return { kind: "interrupted" };
  }
  progress.failures = 0;
  return read(deps, network, { cursor, end, progress });
}

/**
 * The cursor, with times in the future (written by a fast clock) lowered to now. It is stored, so that the correction holds even if no source answers
 * from now on.
 */
async function takeBackAhead(deps: WatchDependencies, cursor: NetworkCursor, nowMs: number) {
  const { network, passedMs, lastMovedAtMs, tickedAtMs } = cursor;
  if (passedMs <= nowMs && (tickedAtMs ?? 0) <= nowMs) return ok(cursor);
  const lowered = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [lowerAhead(deps.db, network, nowMs), lowerStuckAhead(deps.db, network, nowMs)]),
  );
  const row = { ...cursor, passedMs: Math.min(passedMs, nowMs), lastMovedAtMs: Math.min(lastMovedAtMs, nowMs) };
  return lowered.ok ? ok(row) : lowered;
}

/** The stored progress, or an empty one if it cannot be read: progress may always be behind the work done. */
function progressOf(deps: WatchDependencies, { network, progress }: NetworkCursor): WatchProgress {
  const known = WatchProgress.parse(progress);
  if (known !== undefined) return known;
  deps.report(`watchers: ${network} starts with empty progress, because the stored progress cannot be read`);
  return new WatchProgress();
}

/**
 * Records the tick of a pass that failed on our side, not a source's. Without it the network would count as asleep, and no invoice on a sleeping
 * network is closed.
 */
async function broken(deps: WatchDependencies, cursor: NetworkCursor, progress: WatchProgress): Promise<void> {
  progress.failures++;
  await failed(deps, { ...cursor, lastOutage: INTERNAL }, progress);
}

/** Stored as the outage if the source answered, but the answer could not be stored or understood. */
const INTERNAL = "INTERNAL";

interface Attempt {
  readonly network: Network;
  readonly memory: WatchMemory;
  readonly progress: WatchProgress;
  readonly begunMs: number;
  readonly budget: StatementBudget;
  /** The cursor as read; undefined if it must be read again. */
  readonly cursor: NetworkCursor | undefined;
}

interface PassEnd {
  readonly cursor: NetworkCursor;
  readonly isBehind: boolean;
}

/** A whole pass through one source. Only failures of the source count against it. */
async function attempt(
  deps: WatchDependencies,
  of: Attempt,
  client: ChainClient,
): Promise<Result<PassEnd | Stop, Outage>> {
  const end = await readChain(deps, of, client);
  const source = deps.pool.nameOf(client);
  if (end.ok) {
    of.progress.askForMore(source);
    return end;
  }
  if (end.error.kind !== "outage") return ok(end.error);
  const { outage, isAnswering } = end.error;
  // A smaller request does not help if the source is behind, or if it answers and refuses most addresses.
  if (outage.kind !== "BEHIND" && isAnswering === undefined) of.progress.askForLess(source);
  return err(outage);
}

async function readChain(deps: WatchDependencies, of: Attempt, client: ChainClient): Promise<Step<PassEnd>> {
  const { network, memory, progress, begunMs, budget } = of;
  const tip = asked(await client.tip());
  if (!tip.ok) return tip;
  deps.pool.noteTip(client, tip.value.height, deps.nowMs());
  progress.noteSources(deps.pool.records());
  const isOld = isTipOld(network, tip.value.timeMs, deps.nowMs());
  if (isOld && (await isOvertaken(deps, client, tip.value)))
    return behind("the tip is old, and another source has a newer one");
  const finalized = asked(await client.finalizedHeight());
  if (!finalized.ok) return finalized;
  const current = of.cursor === undefined ? await readCursor(deps, network) : ok(of.cursor);
  if (!current.ok) return current;
  const chain = { tip: tip.value, finalizedHeight: finalized.value };
  const pass: Pass = { network, memory, progress, begunMs, budget, ...chain };
  const placed = await findPosition(deps, pass, client, current.value);
  if (!placed.ok) return placed;
  const { isLagging } = placed.value;
  if (
    hasLaggedLong(progress, deps.pool.nameOf(client), isLagging, deps.nowMs()) &&
    (await isOvertaken(deps, client, tip.value))
  )
    return behind("the source has been below the cursor for minutes, and another source is not");
  const readOn = client.history === undefined ? scanBlocks : sweepRecipients;
  const scanned = isLagging
    ? ok({ cursor: placed.value.cursor, unconfirmed: new Set<string>(), hasMore: false })
    : await readOn(deps, pass, client, placed.value.cursor);
  if (!scanned.ok) return scanned;
  const { unconfirmed, hasMore } = scanned.value;
  const { height } = scanned.value.cursor;
  // A source below the cursor may be on a losing branch, so its blocks above the last shared one prove nothing.
  const due = isLagging
    ? ok(false)
    : await lookAtDue(deps, { ...pass, budget: budget.upTo(PASS_STATEMENTS.recheck) }, client, {
        provenHeight: Math.min(height, tip.value.height),
        unconfirmed,
      });
  if (!due.ok) return due;
  const isBehind = due.value || hasMore || (client.costsBy === "blocks" && height < tip.value.height);
  const seen = { tipHeight: tip.value.height, tipTimeMs: tip.value.timeMs, finalizedHeight: finalized.value };
  return ok({ cursor: { ...scanned.value.cursor, ...seen }, isBehind });
}

async function readCursor(deps: WatchDependencies, network: Network): Promise<Step<NetworkCursor>> {
  const rows = stored(await readWithRetry(deps.sleep, async () => selectCursor(deps.db, network.name)));
  if (!rows.ok) return rows;
  const [cursor] = rows.value;
  return cursor === undefined || cursor.isResting ? err({ kind: "lost" }) : ok(cursor);
}

/** Ends a pass that read its chain: records the tick and how fresh the source is. */
async function read(
  deps: WatchDependencies,
  network: Network,
  of: { readonly cursor: NetworkCursor; readonly end: PassEnd; readonly progress: WatchProgress },
): Promise<PassOutcome> {
  const { progress } = of;
  const nowMs = deps.nowMs();
  const { tipTimeMs } = of.end.cursor;
  const isOld = tipTimeMs !== null && isTipOld(network, tipTimeMs, nowMs);
  const degradedSinceMs = isOld ? (of.cursor.degradedSinceMs ?? tipTimeMs) : null;
  const lastOutage = isOld ? "BEHIND" : null;
  const row = { ...of.end.cursor, tickedAtMs: nowMs, degradedSinceMs, lastOutage };
  if (isOld) await reportOutage(deps, row, progress);
  const wokenAtMs = isAsleep(of.cursor.tickedAtMs, nowMs) ? nowMs : null;
  // If the cursor moved, the tick was recorded with it.
  const isTicked = of.end.cursor.tickedAtMs !== of.cursor.tickedAtMs && degradedSinceMs === of.cursor.degradedSinceMs;
  const isNoted = isTicked && progress.print() === of.end.cursor.progress;
  const noted = isNoted ? ok(true) : await note(deps, row, progress, wokenAtMs);
  return noted.ok ? { kind: "read", isBehind: of.end.isBehind } : { kind: "interrupted" };
}

/** Ends a pass without a source: records the tick and the start of the outage, and sends the outage event to the affected merchants. */
async function failed(deps: WatchDependencies, cursor: NetworkCursor, progress: WatchProgress): Promise<PassOutcome> {
  const nowMs = deps.nowMs();
  const row = { ...cursor, tickedAtMs: nowMs, degradedSinceMs: cursor.degradedSinceMs ?? nowMs };
  // Ids of an episode's events derive from its start, so the start is stored before the first event.
  if (cursor.degradedSinceMs !== null) await reportOutage(deps, row, progress);
  await note(deps, row, progress, isAsleep(cursor.tickedAtMs, nowMs) ? nowMs : null);
  return { kind: "failed", outage: row.lastOutage };
}

function note(deps: WatchDependencies, row: NetworkCursor, progress: WatchProgress, wokenAtMs: number | null) {
  return readWithRetry(deps.sleep, async () => noteTick(deps.db, { ...row, progress: progress.print() }, wokenAtMs));
}
