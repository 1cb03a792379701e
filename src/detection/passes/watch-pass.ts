// Shared by all steps of a pass. The cursor moves only after what was read is stored, and only if no one has moved it since. So if a pass is cut off
// between two awaits, the next one starts again from the stored cursor.

import type { Network } from "../../chains/registry/networks.ts";
import type { ChainPool } from "../../chains/sources/chain-pool-client.ts";
import type { BlockRef } from "../../chains/sources/transfer.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Meter } from "../../platform/db/meter.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { StatementBudget } from "../../platform/db/statement-budget.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Applied, Findings } from "../matching/apply-transfers.ts";
import type { WatchProgress } from "./progress.ts";
import type { RecipientBook } from "./recipients.ts";
import { moveCursor } from "./store.ts";

export interface WatchDependencies {
  readonly db: Db;
  /** Counts the queries of `db`, for the log. */
  readonly meter?: Meter;
  readonly sleep: Sleep;
  nowMs(): number;
  /**
   * Whether the import after a restore is still running. If so, nothing is read, because the invoices of the payments may be missing. Absent: never.
   */
  isRestoring?(): Promise<boolean>;
  readonly pool: Pick<
    ChainPool,
    | "available"
    | "attempt"
    | "attemptWithout"
    | "hasSecond"
    | "nameOf"
    | "noteTip"
    | "records"
    | "resume"
    | "states"
    | "tryEach"
  >;
  /** `applyTransfers` with its dependencies, at the current time. */
  apply(findings: Findings): Promise<Result<Applied, Failure>>;
  /** Writes one line to the log. */
  report(line: string): void;
}

/** What an object keeps in memory between passes. It is only a cache: an object loses it after ten idle seconds. */
export class WatchMemory {
  book: RecipientBook | undefined;
  /** Recipients of the range that is being read again. */
  reread: { readonly requestedAtMs: number; readonly book: RecipientBook } | undefined;

  forget(): void {
    this.book = undefined;
  }
}

/** One pass over one network through one source. */
export interface Pass {
  readonly network: Network;
  readonly memory: WatchMemory;
  /** Written with the cursor and with the tick. */
  readonly progress: WatchProgress;
  readonly begunMs: number;
  /** The budget of the part of the pass that is running. */
  readonly budget: StatementBudget;
  /** The source's tip, read before the recipients, so that they include every address that a payer was shown before this block. */
  readonly tip: BlockRef;
  readonly finalizedHeight: number | null;
}

/** Why a step ends early. */
export type Stop =
  /** `isAnswering`: the source failed although it still answers, so the failure was not caused by too many requests. */
  | { readonly kind: "outage"; readonly outage: Outage; readonly isAnswering?: true }
  /** Our own storage failed; the source is not at fault. */
  | { readonly kind: "storage"; readonly code: Failure["code"] }
  /** The cursor differs from the one that was read: another pass has moved it, or the network was paused or put to rest. */
  | { readonly kind: "lost" };

export type Step<T> = Result<T, Stop>;

export function asked<T>(answer: Result<T, Outage>): Step<T> {
  return answer.ok ? answer : err({ kind: "outage", outage: answer.error });
}

export function stored<T>(answer: Result<T, Failure>): Step<T> {
  return answer.ok ? answer : err({ kind: "storage", code: answer.error.code });
}

/** How much of the findings was applied before the budget was spent; the next pass must find the rest again. */
interface Done {
  readonly isWhole: boolean;
  /** Everything in blocks below this height was applied. */
  readonly below: number;
}

const WHOLE: Done = { isWhole: true, below: Number.POSITIVE_INFINITY };

/** Applies findings; the pass ends here if they cannot be stored. */
export async function applied(
  deps: WatchDependencies,
  pass: Pass,
  found: Pick<Findings, "transfers" | "seen" | "isHearsay">,
): Promise<Step<Done>> {
  if (found.transfers.length === 0 && found.seen.length === 0) return ok(WHOLE);
  const { network, budget } = pass;
  const heights = { tipHeight: pass.tip.height, finalizedHeight: pass.finalizedHeight };
  const answer = stored(await deps.apply({ network, heights, hasSecond: deps.pool.hasSecond(), budget, ...found }));
  if (!answer.ok) return answer;
  const { leftFrom } = answer.value;
  return ok(leftFrom === undefined ? WHOLE : { isWhole: false, below: leftFrom });
}

/** The cursor's row after the move; `read` itself if there was nothing to move. */
export async function moveTo(
  deps: WatchDependencies,
  pass: Pass,
  read: NetworkCursor,
  to: Partial<Pick<NetworkCursor, "height" | "hash" | "checkpoints" | "passedMs">>,
): Promise<Step<NetworkCursor>> {
  const moved = { ...read, ...to };
  if (moved.height === read.height && moved.hash === read.hash && moved.passedMs === read.passedMs) return ok(read);
  const nowMs = deps.nowMs();
  const row: NetworkCursor = {
    ...moved,
    lastMovedAtMs: nowMs,
    tipHeight: pass.tip.height,
    tipTimeMs: pass.tip.timeMs,
    finalizedHeight: pass.finalizedHeight,
    tickedAtMs: nowMs,
    progress: pass.progress.print(),
  };
  const answer = stored(await readWithRetry(deps.sleep, async () => moveCursor(deps.db, read, row)));
  if (!answer.ok) return answer;
  return answer.value.length === 1 ? ok(row) : err({ kind: "lost" });
}
