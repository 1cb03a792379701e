// The sweep of due invoices, run every minute, bounded and idempotent. A skipped or repeated run changes only the time of a change, because reads
// settle due invoices by themselves.

import { NETWORKS } from "../../chains/registry/networks.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { ok } from "../../lib/result.ts";
import { inTurn } from "../../lib/turns.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Committed } from "../../platform/db/commit-batch.ts";
import { d1Messages } from "../../platform/db/conflict.ts";
import { faultKind } from "../../platform/db/retry.ts";
import { fileOf, type InvoiceRow } from "../invoice-records/invoice.ts";
import { selectInvoiceRow, selectInvoiceRows } from "../invoice-records/store.ts";
import { forgetSettled, noteUnsettled, type Unsettled } from "../unsettled/store.ts";
import { type ChangeDependencies, changeAll, changeInvoice } from "./change-invoice.ts";
import { noteDueTurn, selectDueInTurn, selectDueInvoices } from "./due/store.ts";
import { reorgWindowMs, settlementChange } from "./settle-invoice.ts";

/** An invocation may make 1,000 queries; settling an invoice takes about five. */
const MOST_A_RUN = 150;
const OLDEST_A_RUN = 100;
/** How many invoices are taken from the merchants in turn, so that no merchant's invoices wait for another's large backlog. */
const IN_TURN_A_RUN = 50;
/** How many merchants with active invoices are visited; most of them have no invoice due. */
const MERCHANTS_A_RUN = 1_000;
const OF_EACH = 10;
/** How many of the newest due invoices are also taken, so that many rows that fail for the first time do not delay the others. */
const NEWEST_A_RUN = 40;
/** How many invoices that failed before are retried. Each is settled alone, so that none fails because of another. */
const HELD_A_RUN = 10;
/** Invoices in one batch. Each may have up to a megabyte. */
const SETTLED_AT_ONCE = 25;
/** How many batches may fail because the database was reset. After that the run ends, because more calls would only add to the database's load. */
const MOST_RESETS = 2;
/**
 * Between two batches a run pauses for as long as the last batch took, so the pause is longer on a busy database. Without it, a run would block the
 * creation of invoices in the same process until it ends.
 */
const LEAST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

interface Swept {
  readonly settled: number;
  /** Invoices that could not be settled because of another writer, a fault or a bug. They are retried at growing intervals. */
  readonly left: readonly Unsettled[];
  /** Whether more invoices may be due and this run settled any, so that another run is useful. */
  readonly hasMore: boolean;
}

type Due = Pick<InvoiceRow, "id" | "merchantId">;

/** The sweep acts for no user, so it has no author in the audit log. */
interface SweepDependencies extends Omit<ChangeDependencies, "trail"> {
  /** The current time, to measure how long a batch took. */
  readonly clock?: () => number;
}

/** Settles due invoices. An invoice that cannot be read or settled is reported and skipped, without stopping the others. */
export async function expireInvoices(deps: SweepDependencies): Promise<Swept> {
  const { chunks, after, isCut } = await selectDue(deps);
  const left: Unsettled[] = [];
  const settled: InvoiceId[] = [];
  const clock = deps.clock ?? (() => deps.nowMs);
  let tookMs = 0;
  let resets = 0;
  for (const chunk of chunks) {
    if (resets === MOST_RESETS) break;
    await deps.sleep(Math.min(Math.max(tookMs, LEAST_PAUSE_MS), LONGEST_PAUSE_MS));
    const beganMs = clock();
    const outcomes = await settleAll(deps, chunk);
    if (outcomes.some(([, reason]) => reason === WAS_RESET)) resets += 1;
    for (const [invoiceId, reason] of outcomes) {
      if (reason === undefined) settled.push(invoiceId);
      else left.push({ invoiceId, reason });
    }
    tookMs = clock() - beganMs;
  }
  await batch(deps.db, [
    forgetSettled(deps.db, settled),
    noteUnsettled(deps.db, left, deps.nowMs),
    noteDueTurn(deps.db, after),
  ]);
  return { settled: settled.length, left, hasMore: isCut && settled.length > 0 };
}

/** The stored reason for invoices that were being read when the database was reset. */
const WAS_RESET = "STORAGE_WAS_RESET";

interface DuePage {
  /** The invoices in one chunk are settled together. */
  readonly chunks: readonly (readonly Due[])[];
  /** The last merchant served. */
  readonly after: string;
  /** Whether more invoices may be due than are listed. */
  readonly isCut: boolean;
}

async function selectDue(deps: SweepDependencies): Promise<DuePage> {
  const reorgWindows = JSON.stringify(
    Object.fromEntries(NETWORKS.map((network) => [network.name, reorgWindowMs(network)])),
  );
  const page = (order: "oldest" | "newest" | "held", limit: number) =>
    selectDueInvoices(deps.db, deps.nowMs, { order, limit, reorgWindows });
  const [oldest, newest, held, merchants] = await batch(deps.db, [
    page("oldest", OLDEST_A_RUN),
    page("newest", NEWEST_A_RUN),
    page("held", HELD_A_RUN),
    selectDueInTurn(deps.db, deps.nowMs, { merchants: MERCHANTS_A_RUN, ofEach: OF_EACH, reorgWindows }),
  ]);
  const turns = merchants.map(({ merchantId, ids }) =>
    parseJson<readonly InvoiceId[]>(ids).map((id) => ({ id, merchantId })),
  );
  const first = inTurn(turns, IN_TURN_A_RUN);
  const due = [...new Map([...first, ...newest, ...oldest].map((each) => [each.id, each])).values()];
  const most = MOST_A_RUN - held.length;
  const isCut = oldest.length === OLDEST_A_RUN || due.length > most;
  const chunks = [...held.map((one) => [one]), ...chunksOf(due.slice(0, most), SETTLED_AT_ONCE)];
  return { chunks, after: lastInTurn(merchants, turns), isCut };
}

/** The merchant after whom the next run starts; "" if this run reached the last merchant. */
function lastInTurn(
  merchants: readonly { readonly merchantId: MerchantId }[],
  turns: readonly (readonly Due[])[],
): string {
  const waiting = turns.filter(({ length }) => length > 0);
  const [unserved] = waiting.slice(IN_TURN_A_RUN);
  const last = unserved === undefined ? merchants[MERCHANTS_A_RUN - 1] : waiting[IN_TURN_A_RUN - 1]?.[0];
  return last?.merchantId ?? "";
}

/**
 * Returns, for each invoice, why it is not settled; undefined if it is. The invoices are settled in one batch. A refused batch is halved, down to the
 * invoice that causes the refusal. If the database was reset, no invoice in the batch is tried again in this run: each is retried alone in a later
 * run.
 */
async function settleAll(
  deps: SweepDependencies,
  due: readonly Due[],
): Promise<readonly (readonly [InvoiceId, string | undefined])[]> {
  const [one, ...others] = due;
  if (one === undefined) return [];
  if (others.length === 0) return [[one.id, await whyUnsettled(deps, one)]];
  const outcome = await settleTogether(deps, due);
  if (outcome !== "conflict") return due.map(({ id }) => [id, UNSETTLED_BY[outcome]]);
  const half = Math.ceil(due.length / 2);
  return [...(await settleAll(deps, due.slice(0, half))), ...(await settleAll(deps, due.slice(half)))];
}

const UNSETTLED_BY = { committed: undefined, unknown: "STORAGE_UNAVAILABLE", reset: WAS_RESET } as const;

/**
 * `conflict`: one of the invoices cannot be read or settled, or has changed since it was read. `reset`: the database was reset during the read,
 * perhaps because of these invoices. If storage does not answer a read, the run ends.
 */
async function settleTogether(deps: SweepDependencies, due: readonly Due[]): Promise<Committed["kind"] | "reset"> {
  try {
    const rows = await selectInvoiceRows(
      deps.db,
      due.map(({ id }) => id),
    );
    const clock = { ...deps, trail: SYSTEM_TRAIL };
    return await changeAll(clock, rows.map(fileOf), (file) => settlementChange(file, deps.nowMs));
  } catch (error) {
    const kind = faultKind(error);
    if (kind === "reset") return kind;
    if (kind !== "other") throw error;
    return "conflict";
  }
}

async function whyUnsettled(deps: SweepDependencies, { merchantId, id }: Due): Promise<string | undefined> {
  try {
    const [row] = await selectInvoiceRow(deps.db, merchantId, id);
    if (row === undefined) return undefined;
    const clock = { ...deps, trail: SYSTEM_TRAIL };
    const settled = await changeInvoice(clock, { merchantId, id, read: fileOf(row) }, async (file) =>
      ok(settlementChange(file, deps.nowMs)),
    );
    return settled.ok ? undefined : settled.error.code;
  } catch (error) {
    return reasonOf(error);
  }
}

/** D1's message, which names only a table and columns, or the name of the error. Never our own messages, which may contain values from a row. */
function reasonOf(error: unknown): string {
  const byDatabase = d1Messages(error).find((message) => message.startsWith("D1_"));
  return byDatabase ?? (error instanceof Error ? error.name : typeof error);
}
