// The sweep: every minute, bounded, idempotent. A run that is skipped or doubled changes nothing but the moment: reads settle for themselves.
import { SYSTEM_TRAIL } from "../audit/entry.ts";
import { NETWORKS } from "../chains/networks.ts";
import { d1Messages } from "../db/conflict.ts";
import type { InvoiceId } from "../lib/ids.ts";
import { ok } from "../lib/result.ts";
import { releaseReservations } from "../reservations/store.ts";
import { type ChangeEffects, changeInvoice } from "./change-invoice.ts";
import { fileOf, type InvoiceRow } from "./invoice.ts";
import { reorgWindowMs, settlementChange } from "./settle-invoice.ts";
import { selectDueInvoices } from "./store.ts";

/** An invocation has 1,000 queries; a settled invoice takes about five. */
const OLDEST_A_RUN = 100;
/** The newest as well, so that rows which always fail can never keep all others waiting. */
const NEWEST_A_RUN = 50;
const RESERVATIONS_A_RUN = 1_000;

export interface Swept {
  readonly settled: number;
  /** Invoices that another writer, a fault or a bug kept from being settled; the next run finds them again. */
  readonly left: readonly Unsettled[];
}

export interface Unsettled {
  readonly invoiceId: InvoiceId;
  /** The code of the refusal, the database's word, or the name of the error: nothing of a row. */
  readonly reason: string;
}

/** The clock acts for nobody, so no trail is taken. */
type SweepEffects = Omit<ChangeEffects, "trail">;

/** Settles invoices whose time is over. One that cannot be settled is told of and left; it stops no other. */
export async function expireInvoices(fx: SweepEffects): Promise<Swept> {
  const reorgWindows = JSON.stringify(
    Object.fromEntries(NETWORKS.map((network) => [network.name, reorgWindowMs(network)])),
  );
  const [oldest, newest] = await fx.db.batch([
    selectDueInvoices(fx.db, fx.nowMs, { order: "oldest", limit: OLDEST_A_RUN, reorgWindows }),
    selectDueInvoices(fx.db, fx.nowMs, { order: "newest", limit: NEWEST_A_RUN, reorgWindows }),
  ]);
  const due = new Map([...oldest, ...newest].map((row) => [row.id, row]));
  const left: Unsettled[] = [];
  for (const row of due.values()) {
    const reason = await whyUnsettled(fx, row);
    if (reason !== undefined) left.push({ invoiceId: row.id, reason });
  }
  return { settled: due.size - left.length, left };
}

async function whyUnsettled(fx: SweepEffects, row: InvoiceRow): Promise<string | undefined> {
  const { merchantId, id } = row;
  try {
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
