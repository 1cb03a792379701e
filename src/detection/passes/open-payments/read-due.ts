// Which open payments a pass rechecks: those with and those without an invoice, each in their own order, so that a flood of the latter (one transfer has a row
// for each merchant at its address) delays no invoice's payment.
import { ok } from "../../../lib/result.ts";
import { batch } from "../../../platform/db/batch.ts";
import { readWithRetry } from "../../../platform/db/retry.ts";
import type { WatchProgress } from "../progress.ts";
import { type Step, stored, type WatchDependencies } from "../watch-pass.ts";
import { type DueHeights, finishLoosePayments, type OpenRow, selectDuePayments } from "./store.ts";

/** One in this many has no invoice, even if more of those with one are due. */
const LOOSE_ONE_IN = 5;
/** Payments without an invoice that become final by one statement. */
export const FINISHED_A_PASS = 5_000;

interface DueRows {
  readonly rows: readonly OpenRow[];
  /** Whether more are due after them. */
  readonly isCut: boolean;
}

/** The next due payments with an invoice and without one; the latter cannot delay the former, however many there are. */
export async function readDue(
  deps: WatchDependencies,
  progress: WatchProgress,
  of: {
    readonly heights: DueHeights & { readonly network: string };
    readonly isByDepth: boolean;
    readonly limit: number;
  },
): Promise<Step<{ readonly credited: DueRows; readonly loose: DueRows }>> {
  const { heights, limit, isByDepth } = of;
  const most = limit - Math.floor(limit / LOOSE_ONE_IN);
  // One extra row shows whether the next pass starts over: it may be the only one for hours.
  const [credited, loose] = [
    { ...heights, hasInvoice: true, after: progress.lookedAt, limit: most + 1 },
    { ...heights, hasInvoice: false, after: progress.looseLookedAt, limit: limit + 1 },
  ];
  const finished = { ...heights, isByDepth, nowMs: deps.nowMs(), list: "[]", limit: FINISHED_A_PASS };
  const read = stored(
    await readWithRetry(deps.sleep, async () =>
      batch(deps.db, [
        finishLoosePayments(deps.db, finished),
        selectDuePayments(deps.db, credited),
        selectDuePayments(deps.db, loose),
      ]),
    ),
  );
  if (!read.ok) return read;
  const [, own, others] = read.value;
  const asked = own.slice(0, most);
  return ok({ credited: cut(own, asked.length), loose: cut(others, limit - asked.length) });
}

function cut(rows: readonly OpenRow[], length: number): DueRows {
  return { rows: rows.slice(0, length), isCut: rows.length > length };
}

/** The place after which the next pass begins; 0 to start over. */
export function placeAfter({ rows, isCut }: DueRows, left: ReadonlySet<number>): number {
  const first = rows.find(({ position }) => left.has(position));
  if (first !== undefined) return first.position - 1;
  return isCut ? (rows.at(-1)?.position ?? 0) : 0;
}
