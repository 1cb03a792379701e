// Chooses the open payments that a pass rechecks: those with and those without an invoice, each in a separate order. A flood of payments without an
// invoice (one transfer has a row for each merchant at its address) therefore does not delay an invoice's payment.
import { ok } from "../../../lib/result.ts";
import { batch } from "../../../platform/db/batch.ts";
import { readWithRetry } from "../../../platform/db/retry.ts";
import type { WatchProgress } from "../progress.ts";
import { type Step, stored, type WatchDependencies } from "../watch-pass.ts";
import { type DueHeights, finishLoosePayments, type OpenRow, selectDuePayments } from "./store.ts";

/** One in this many rechecked payments has no invoice, even if more payments with an invoice are due. */
const LOOSE_ONE_IN = 5;
/** The most payments without an invoice that one statement makes final. */
export const FINISHED_A_PASS = 5_000;

interface DueRows {
  readonly rows: readonly OpenRow[];
  /** Whether more payments are due after these rows. */
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
  // Reads one extra row to see whether more are due. If not, the next pass starts over; otherwise it could read an empty page, although it may be the
  // only pass for hours.
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

/** The position after which the next pass begins; 0 to start over. */
export function placeAfter({ rows, isCut }: DueRows, left: ReadonlySet<number>): number {
  const first = rows.find(({ position }) => left.has(position));
  if (first !== undefined) return first.position - 1;
  return isCut ? (rows.at(-1)?.position ?? 0) : 0;
}
