// One pass over one network: bounded, safe to run twice, and nothing is lost wherever it dies, because the
// cursor moves only after what was read is stored.
import type { ChainClient } from "../../chains/chain-client.ts";
import type { Network } from "../../chains/networks.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { selectCursor } from "../../commerce/cursors/store.ts";
import { isAsleep } from "../../commerce/invoices/closing.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { lowerStuckAhead } from "./by-address/store.ts";
import { isTipOld } from "./cursor-plan.ts";
import { hasLaggedLong, isOvertaken } from "./find-overtaken.ts";
import { behind, findPosition } from "./find-position.ts";
import { WatchProgress } from "./progress.ts";
import { lookAtDue } from "./recheck-payments.ts";
import { reportOutage } from "./report-outage.ts";
import { scanBlocks } from "./scan-blocks.ts";
import { lowerAhead, noteTick, restIfIdle } from "./store.ts";
import { sweepRecipients } from "./sweep-recipients.ts";
import {
  asked,
  type Pass,
  type Step,
  type Stop,
  stored,
  type WatchDependencies,
  type WatchMemory,
} from "./watch-pass.ts";

export type PassOutcome =
  /** Nothing is watched: no pass is needed until an activation. */
  | { readonly kind: "resting" }
  | { readonly kind: "read"; readonly isBehind: boolean }
  /** No source could be read. */
  | { readonly kind: "failed"; readonly outage: string | null }
  /** Our own storage, or another writer: the next pass finds out. */
  | { readonly kind: "interrupted" };

/** Where a pass throws, because of a bug or an unreadable row, this notes its tick first and then rethrows. */
export async function runPass(deps: WatchDependencies, network: Network, memory: WatchMemory): Promise<PassOutcome> {
  const begunMs = deps.nowMs();
  const opened = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [restIfIdle(deps.db, network.name, begunMs), selectCursor(deps.db, network.name)]),
  );
  if (!opened.ok) return { kind: "interrupted" };
  const [, [cursor]] = opened.value;
  if (cursor === undefined || cursor.isResting) {
    memory.forget();
    return { kind: "resting" };
  }
  try {
    return await passFrom(deps, { network, memory, begunMs, cursor, progress: progressOf(deps, cursor) });
  } catch (error) {
    // The progress of a pass that threw cannot be trusted: the stored one is used.
    await broken(deps, cursor, progressOf(deps, cursor));
    throw error;
  }
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
  // While the pool pauses every source, nothing was learned about them.
  if (deps.pool.available(begunMs).length === 0) return failed(deps, cursor, progress);
  let attempts = 0;
  const answered = await deps.pool.attempt(begunMs, (client) => {
    // A second attempt must see what the first one wrote before its source failed.
    const known = attempts++ === 0 ? cursor : undefined;
    return attempt(deps, { ...of, cursor: known }, client);
  });
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

/** The cursor, with times that a fast clock wrote in the future lowered to now; stored, so that it holds even if no source answers from now on. */
async function takeBackAhead(deps: WatchDependencies, cursor: NetworkCursor, nowMs: number) {
  const { network, passedMs, lastMovedAtMs, tickedAtMs } = cursor;
  if (passedMs <= nowMs && (tickedAtMs ?? 0) <= nowMs) return ok(cursor);
  const lowered = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [lowerAhead(deps.db, network, nowMs), lowerStuckAhead(deps.db, network, nowMs)]),
  );
  const row = { ...cursor, passedMs: Math.min(passedMs, nowMs), lastMovedAtMs: Math.min(lastMovedAtMs, nowMs) };
  return lowered.ok ? ok(row) : lowered;
}

/** The stored progress, or an empty one where that cannot be read: progress may always be older than what has been done. */
function progressOf(deps: WatchDependencies, { network, progress }: NetworkCursor): WatchProgress {
  const known = WatchProgress.parse(progress);
  if (known !== undefined) return known;
  deps.report(`watchers: ${network} begins its progress anew, for what is stored of it cannot be read`);
  return new WatchProgress();
}

/**
 * Notes the tick of a pass that failed on our side, not a source's. Without it the network would count as asleep, and while a network is asleep
 * none of its invoices is closed.
 */
async function broken(deps: WatchDependencies, cursor: NetworkCursor, progress: WatchProgress): Promise<void> {
  progress.failures++;
  await failed(deps, { ...cursor, lastOutage: INTERNAL }, progress);
}

/** Instead of an outage's kind: the source answered, but the answer could not be stored or understood. */
const INTERNAL = "INTERNAL";

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
  const { outage } = end.error;
  // Asking a source for less does not help where it is behind.
  if (outage.kind !== "BEHIND") of.progress.askForLess(source);
  return err(outage);
}

async function readChain(deps: WatchDependencies, of: Attempt, client: ChainClient): Promise<Step<PassEnd>> {
  const { network, memory, progress, begunMs } = of;
  const tip = asked(await client.tip());
  if (!tip.ok) return tip;
  const isOld = isTipOld(network, tip.value.timeMs, deps.nowMs());
  if (isOld && (await isOvertaken(deps, client, tip.value)))
    return behind("an old tip, and another source has a newer one");
  const finalized = asked(await client.finalizedHeight());
  if (!finalized.ok) return finalized;
  const current = of.cursor === undefined ? await readCursor(deps, network) : ok(of.cursor);
  if (!current.ok) return current;
  const pass: Pass = { network, memory, progress, begunMs, tip: tip.value, finalizedHeight: finalized.value };
  const placed = await findPosition(deps, pass, client, current.value);
  if (!placed.ok) return placed;
  const { isLagging } = placed.value;
  if (
    hasLaggedLong(progress, deps.pool.nameOf(client), isLagging, deps.nowMs()) &&
    (await isOvertaken(deps, client, tip.value))
  )
    return behind("below the cursor for minutes, and another source is not");
  const readOn = client.history === undefined ? scanBlocks : sweepRecipients;
  const scanned = isLagging
    ? ok({ cursor: placed.value.cursor, unconfirmed: new Set<string>() })
    : await readOn(deps, pass, client, placed.value.cursor);
  if (!scanned.ok) return scanned;
  const { unconfirmed } = scanned.value;
  const { height } = scanned.value.cursor;
  // A source below the cursor may be on a branch that lost: what it has in blocks above the last shared one proves nothing.
  const due = isLagging
    ? ok(false)
    : await lookAtDue(deps, pass, client, { provenHeight: Math.min(height, tip.value.height), unconfirmed });
  if (!due.ok) return due;
  const isBehind = due.value || (client.costsBy === "blocks" && height < tip.value.height);
  const seen = { tipHeight: tip.value.height, tipTimeMs: tip.value.timeMs, finalizedHeight: finalized.value };
  return ok({ cursor: { ...scanned.value.cursor, ...seen }, isBehind });
}

async function readCursor(deps: WatchDependencies, network: Network): Promise<Step<NetworkCursor>> {
  const rows = stored(await readWithRetry(deps.sleep, async () => selectCursor(deps.db, network.name)));
  if (!rows.ok) return rows;
  const [cursor] = rows.value;
  return cursor === undefined || cursor.isResting ? err({ kind: "lost" }) : ok(cursor);
}

/** A pass that read its chain: notes the tick, and how fresh the source is. */
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
  // If the cursor moved, the tick was noted with it.
  const isTicked = of.end.cursor.tickedAtMs !== of.cursor.tickedAtMs && degradedSinceMs === of.cursor.degradedSinceMs;
  const isNoted = isTicked && progress.print() === of.end.cursor.progress;
  const noted = isNoted ? ok(true) : await note(deps, row, progress, wokenAtMs);
  return noted.ok ? { kind: "read", isBehind: of.end.isBehind } : { kind: "interrupted" };
}

/** A pass without a source: notes since when and the tick, and sends the outage event to the merchants concerned. */
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
