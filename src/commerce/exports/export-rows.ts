// An export reads a page of rows only after the receiver has consumed the previous page, so that one page is in memory at a time. Rows are read in
// the order of their creation, which never changes, so no row is missed or repeated. Each row is shown in its state when its page is read; rows
// created after `asOfMs` are left out.
import type { Position } from "../../lib/pagination.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ExportedInvoice } from "./invoice-line.ts";
import type { ExportedPayment } from "./payment-line.ts";
import {
  type PaymentSpan,
  selectChangedPayment,
  selectFirstReturned,
  selectInvoiceSpan,
  selectPaymentSpan,
} from "./store.ts";

const PAGE_SIZE = 2_500;
/** An invocation may make 1,000 calls. The remaining 200 are left for retries of failed reads and for the rate limiter. */
const MOST_PAGES = 800;
/** How many pages are read for each call to the rate limiter. */
const PAGES_A_TURN = 10;
const LONGEST_INVOCATION_MS = 15 * MINUTE_MS;

export interface ExportDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly clock: () => number;
  /** Counts one call towards the merchant's limit. Returns the seconds to wait if there were too many in a minute, otherwise 0. */
  readonly waitOf: (merchantId: string) => Promise<number>;
}

/**
 * Throws if storage fails midway, or if the limit of pages or of time is reached before the last row, because a truncated export must not look
 * complete. Time is limited because a reader may be slow, and may lose access in the meantime.
 */
type Pages<Row> = AsyncGenerator<readonly Row[]>;

interface ExportRange {
  readonly fromMs: number;
  readonly beforeMs: number;
  readonly asOfMs: number;
  /** The row after which the export continues. */
  readonly after?: Position | undefined;
}

/** The payments received in the range. Fails with STORAGE_UNAVAILABLE. */
export async function exportPayments(
  deps: ExportDependencies,
  merchantId: string,
  { fromMs, beforeMs, asOfMs, after, isCounted }: ExportRange & Pick<PaymentSpan, "isCounted">,
): Promise<Result<Pages<ExportedPayment>, Failure>> {
  const asked = { receivedFromMs: fromMs, receivedBeforeMs: beforeMs, isCounted };
  const first = await firstRowMs(deps, merchantId, { fromMs, beforeMs });
  if (!first.ok) return first;
  const start = after ?? { createdAtMs: first.value, id: "" };
  const pages = await pagesFrom(deps, merchantId, start, async (place) =>
    selectPaymentSpan(deps.db, merchantId, { ...asked, after: place, asOfMs, limit: PAGE_SIZE }),
  );
  return pages.ok ? ok(askedOf(pages.value)) : pages;
}

/**
 * A time at or before the creation of every payment row received in the range. A row may be older than its payment's time, if the payment was dropped
 * and then seen again.
 */
async function firstRowMs(
  { db, sleep }: Pick<ExportDependencies, "db" | "sleep">,
  merchantId: string,
  { fromMs, beforeMs }: Pick<ExportRange, "fromMs" | "beforeMs">,
): Promise<Result<number, Failure>> {
  const asked = { receivedFromMs: fromMs, receivedBeforeMs: beforeMs };
  const returned = await readWithRetry(sleep, async () => selectFirstReturned(db, merchantId, asked));
  return returned.ok ? ok(Math.min(fromMs, returned.value[0]?.createdAtMs ?? fromMs)) : returned;
}

/**
 * Whether a payment in the lines up to `after` may have changed since the export began, so that the sums no longer match the lines. The time of a
 * change is the start of the invocation that made it, hence the margin.
 */
export async function haveChanged(
  { db, sleep }: ExportDependencies,
  merchantId: string,
  range: ExportRange,
): Promise<Result<boolean, Failure>> {
  const { asOfMs, after } = range;
  if (after === undefined) return ok(false);
  const first = await firstRowMs({ db, sleep }, merchantId, range);
  if (!first.ok) return first;
  const of = { fromMs: first.value, upTo: after, sinceMs: asOfMs - LONGEST_INVOCATION_MS };
  const changed = await readWithRetry(sleep, async () => selectChangedPayment(db, merchantId, of));
  return changed.ok ? ok(changed.value.length > 0) : changed;
}

/** The invoices created in the range. Fails with STORAGE_UNAVAILABLE. */
export async function exportInvoices(
  deps: ExportDependencies,
  merchantId: string,
  { fromMs, beforeMs, asOfMs, after }: ExportRange,
): Promise<Result<Pages<ExportedInvoice>, Failure>> {
  const start = after ?? { createdAtMs: fromMs, id: "" };
  const untilMs = Math.min(asOfMs, beforeMs - 1);
  return pagesFrom(deps, merchantId, start, async (place) =>
    selectInvoiceSpan(deps.db, merchantId, { after: place, asOfMs: untilMs, limit: PAGE_SIZE }),
  );
}

/** Reads the first page before the response begins, so that the request can still be refused. */
async function pagesFrom<Row extends Position>(
  deps: ExportDependencies,
  merchantId: string,
  start: Position,
  read: (after: Position) => Promise<readonly Row[]>,
): Promise<Result<Pages<Row>, Failure>> {
  const first = await readWithRetry(deps.sleep, () => read(start));
  return first.ok ? ok(followed(deps, merchantId, first.value, read)) : first;
}

async function takeTurn({ sleep, waitOf }: ExportDependencies, merchantId: string): Promise<void> {
  for (let waitSeconds = await waitOf(merchantId); waitSeconds > 0; waitSeconds = await waitOf(merchantId))
    await sleep(waitSeconds * SECOND_MS);
}

async function* followed<Row extends Position>(
  deps: ExportDependencies,
  merchantId: string,
  first: readonly Row[],
  read: (after: Position) => Promise<readonly Row[]>,
): Pages<Row> {
  const untilMs = deps.clock() + LONGEST_INVOCATION_MS;
  let page = first;
  for (let pages = 1; ; pages++) {
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (pages % PAGES_A_TURN === 0) await takeTurn(deps, merchantId);
    if (pages === MOST_PAGES || deps.clock() > untilMs) throw new Error(`an export goes on after ${last.id}`);
    const next = await readWithRetry(deps.sleep, () => read(last));
    if (!next.ok) throw new Error(`an export failed after ${last.id}`);
    page = next.value;
  }
}

async function* askedOf<Row extends { readonly isAsked: boolean }>(pages: Pages<Row>): Pages<Row> {
  for await (const page of pages) yield page.filter(({ isAsked }) => isAsked);
}
