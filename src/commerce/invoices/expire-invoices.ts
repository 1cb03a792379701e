// The sweep: every minute, bounded, idempotent. A run that is skipped or doubled changes nothing but the moment: reads settle for themselves.

import { NETWORKS } from "../../chains/networks.ts";
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
import type { Left } from "../../platform/jobs/left.ts";
import { RELEASED_KEPT_MS } from "../amount-reservations/released.ts";
import { forgetReleased, releaseReservations } from "../amount-reservations/store.ts";
import { forgetSettled, noteUnsettled, type Unsettled } from "../unsettled/store.ts";
import { type ChangeDependencies, changeAll, changeInvoice } from "./change-invoice.ts";
import { noteDueTurn, selectDueInTurn, selectDueInvoices } from "./due/store.ts";
import { fileOf, type InvoiceRow } from "./invoice.ts";
import { reorgWindowMs, settlementChange } from "./settle-invoice.ts";
import { selectInvoiceRow, selectInvoiceRows } from "./store.ts";

/** An invocation has 1,000 queries; a settled invoice takes about five. */
const MOST_A_RUN = 150;
const OLDEST_A_RUN = 100;
/** Of all merchants in turn, so that nobody's invoices wait for the many of another. */
const IN_TURN_A_RUN = 50;
/** Merchants who have active invoices, most of them with none due. */
const MERCHANTS_A_RUN = 1_000;
const OF_EACH = 10;
/** The newest as well, so that a burst of rows which fail for the first time keeps nobody waiting. */
const NEWEST_A_RUN = 40;
/** Of those that failed before, however many they are. */
const HELD_A_RUN = 10;
/** In one batch. Each is up to a megabyte by itself. */
const SETTLED_AT_ONCE = 25;
const RESERVATIONS_A_RUN = 1_000;

export interface Swept {
  readonly settled: number;
  /** Invoices that another writer, a fault or a bug kept from being settled; they are tried again, ever more rarely. */
  readonly left: readonly Unsettled[];
  /** Whether it stopped at its bound. */
  readonly hasMore: boolean;
}

type Due = Pick<InvoiceRow, "id" | "merchantId">;

/** The sweep acts for nobody, so no trail is taken. */
type SweepDependencies = Omit<ChangeDependencies, "trail">;

/** Settles invoices whose time is over. One that cannot be read or settled is reported and skipped; it stops no other. */
export async function expireInvoices(deps: SweepDependencies): Promise<Swept> {
  const { due, after, isCut } = await selectDue(deps);
  const left: Unsettled[] = [];
  const settled: InvoiceId[] = [];
  for (const chunk of chunksOf(due, SETTLED_AT_ONCE)) {
    for (const [invoiceId, reason] of await settleAll(deps, chunk)) {
      if (reason === undefined) settled.push(invoiceId);
      else left.push({ invoiceId, reason });
    }
  }
  await batch(deps.db, [
    forgetSettled(deps.db, settled),
    noteUnsettled(deps.db, left, deps.nowMs),
    noteDueTurn(deps.db, after),
  ]);
  return { settled: settled.length, left, hasMore: isCut && settled.length > 0 };
}

interface DuePage {
  readonly due: readonly Due[];
  /** Whose turn was last. */
  readonly after: string;
  /** Whether more are due than it holds. */
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
  const due = [...new Map([...held, ...first, ...newest, ...oldest].map((each) => [each.id, each])).values()];
  const isCut = oldest.length === OLDEST_A_RUN || due.length > MOST_A_RUN;
  return { due: due.slice(0, MOST_A_RUN), after: lastInTurn(merchants, turns), isCut };
}

/** The merchant behind whom the next run begins; "" where this one came to the last of them. */
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
 * Why each of them is not settled; undefined for one that is. They are settled in one batch. Where that fails it is halved, down to the one
 * that is in the way.
 */
async function settleAll(
  deps: SweepDependencies,
  due: readonly Due[],
): Promise<readonly (readonly [InvoiceId, string | undefined])[]> {
  const [one, ...others] = due;
  if (one === undefined) return [];
  if (others.length === 0) return [[one.id, await whyUnsettled(deps, one)]];
  const outcome = await settleTogether(deps, due);
  if (outcome !== "conflict")
    return due.map(({ id }) => [id, outcome === "unknown" ? "STORAGE_UNAVAILABLE" : undefined]);
  const half = Math.ceil(due.length / 2);
  return [...(await settleAll(deps, due.slice(0, half))), ...(await settleAll(deps, due.slice(half)))];
}

/** `conflict`: one of them cannot be read or settled, or is not as it was read. Storage that does not answer a read ends the run. */
async function settleTogether(deps: SweepDependencies, due: readonly Due[]): Promise<Committed["kind"]> {
  try {
    const rows = await selectInvoiceRows(
      deps.db,
      due.map(({ id }) => id),
    );
    const clock = { ...deps, trail: SYSTEM_TRAIL };
    return await changeAll(clock, rows.map(fileOf), (file) => settlementChange(file, deps.nowMs));
  } catch (error) {
    if (faultKind(error) !== "other") throw error;
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

/** Our own messages may contain values of a row; D1's name a table and columns. */
function reasonOf(error: unknown): string {
  const byDatabase = d1Messages(error).find((message) => message.startsWith("D1_"));
  return byDatabase ?? (error instanceof Error ? error.name : typeof error);
}

/** Frees amounts that nobody watches any more, and forgets those that were freed long ago. */
export async function releaseAmounts({ db, nowMs }: Pick<SweepDependencies, "db" | "nowMs">): Promise<Left> {
  const forgotten = forgetReleased(db, nowMs - RELEASED_KEPT_MS, RESERVATIONS_A_RUN);
  const results = await batch(db, [...releaseReservations(db, nowMs, RESERVATIONS_A_RUN), forgotten]);
  return results.some(({ meta }) => meta.changes >= RESERVATIONS_A_RUN) ? "more" : "nothing";
}
