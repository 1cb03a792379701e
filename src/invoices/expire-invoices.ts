// The sweep: every minute, bounded, idempotent. A run that is skipped or doubled changes nothing but the moment: reads settle for themselves.
import { SYSTEM_TRAIL } from "../audit/entry.ts";
import { NETWORKS } from "../chains/networks.ts";
import { d1Messages } from "../db/conflict.ts";
import { faultKind } from "../db/retry.ts";
import type { InvoiceId } from "../lib/ids.ts";
import { piecesOf } from "../lib/pieces.ts";
import { ok } from "../lib/result.ts";
import { releaseReservations } from "../reservations/store.ts";
import { forgetSettled, noteUnsettled, type Unsettled } from "../unsettled/store.ts";
import { type ChangeEffects, changeInvoice } from "./change-invoice.ts";
import { fileOf, type InvoiceRow } from "./invoice.ts";
import { reorgWindowMs, settlementChange } from "./settle-invoice.ts";
import { selectDueInvoices, selectInvoiceRow, selectInvoiceRows } from "./store.ts";

/** An invocation has 1,000 queries; a settled invoice takes about five. */
const OLDEST_A_RUN = 100;
/** The newest as well, so that a burst of rows which fail for the first time keeps nobody waiting. */
const NEWEST_A_RUN = 40;
/** Of those that failed before, however many they are. */
const HELD_A_RUN = 10;
/** Each is up to a megabyte by itself. */
const READ_AT_ONCE = 10;
const RESERVATIONS_A_RUN = 1_000;

export interface Swept {
  readonly settled: number;
  /** Invoices that another writer, a fault or a bug kept from being settled; they are tried again, ever more rarely. */
  readonly left: readonly Unsettled[];
}

type Due = Pick<InvoiceRow, "id" | "merchantId">;

/** The clock acts for nobody, so no trail is taken. */
type SweepEffects = Omit<ChangeEffects, "trail">;

/** Settles invoices whose time is over. One that cannot be read or settled is told of and left; it stops no other. */
export async function expireInvoices(fx: SweepEffects): Promise<Swept> {
  const due = await selectDue(fx);
  const left: Unsettled[] = [];
  const settled: InvoiceId[] = [];
  for (const piece of piecesOf(due, READ_AT_ONCE)) {
    const rows = await readRows(fx, piece);
    for (const each of piece) {
      const reason = await whyUnsettled(
        fx,
        each,
        rows?.find(({ id }) => id === each.id),
      );
      if (reason === undefined) settled.push(each.id);
      else left.push({ invoiceId: each.id, reason });
    }
  }
  await fx.db.batch([forgetSettled(fx.db, settled), noteUnsettled(fx.db, left, fx.nowMs)]);
  return { settled: settled.length, left };
}

async function selectDue(fx: SweepEffects): Promise<readonly Due[]> {
  const reorgWindows = JSON.stringify(
    Object.fromEntries(NETWORKS.map((network) => [network.name, reorgWindowMs(network)])),
  );
  const page = (order: "oldest" | "newest" | "held", limit: number) =>
    selectDueInvoices(fx.db, fx.nowMs, { order, limit, reorgWindows });
  const pages = await fx.db.batch([
    page("oldest", OLDEST_A_RUN),
    page("newest", NEWEST_A_RUN),
    page("held", HELD_A_RUN),
  ]);
  return [...new Map(pages.flat().map((each) => [each.id, each])).values()];
}

/** Undefined where one of them cannot be read: then each is read by itself. Storage that does not answer ends the run. */
async function readRows(fx: SweepEffects, due: readonly Due[]): Promise<readonly InvoiceRow[] | undefined> {
  try {
    return await selectInvoiceRows(
      fx.db,
      due.map(({ id }) => id),
    );
  } catch (error) {
    if (faultKind(error) !== "other") throw error;
    return undefined;
  }
}

async function whyUnsettled(
  fx: SweepEffects,
  { merchantId, id }: Due,
  found: InvoiceRow | undefined,
): Promise<string | undefined> {
  try {
    const [row] = found === undefined ? await selectInvoiceRow(fx.db, merchantId, id) : [found];
    if (row === undefined) return undefined;
    const clock = { ...fx, trail: SYSTEM_TRAIL };
    const settled = await changeInvoice(clock, { merchantId, id, read: fileOf(row) }, async (file) =>
      ok(settlementChange(file, fx.nowMs)),
    );
    return settled.ok ? undefined : settled.error.code;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Messages of our own may hold what a row says; D1's name a table and columns. */
function reasonOf(error: unknown): string {
  const byDatabase = d1Messages(error).find((message) => message.startsWith("D1_"));
  return byDatabase ?? (error instanceof Error ? error.name : typeof error);
}

/** Frees amounts that nobody watches any more. */
export async function releaseAmounts(fx: Pick<SweepEffects, "db" | "nowMs">): Promise<void> {
  await releaseReservations(fx.db, fx.nowMs, RESERVATIONS_A_RUN);
}
