// The sweep: every minute, bounded, idempotent. A run that is skipped or doubled changes nothing but the moment: reads settle for themselves.
import type { InvoiceId } from "../lib/ids.ts";
import { ok } from "../lib/result.ts";
import { releaseReservations } from "../reservations/store.ts";
import { type ChangeEffects, changeInvoice } from "./change-invoice.ts";
import { fileOf, type InvoiceRow } from "./invoice.ts";
import { settlementChange } from "./settle-invoice.ts";
import { selectDueInvoices } from "./store.ts";

/** An invocation has 1,000 queries; a settled invoice takes about five. */
const OLDEST_A_RUN = 100;
/** The newest as well, so that rows which always fail can never keep all others waiting. */
const NEWEST_A_RUN = 50;
const RESERVATIONS_A_RUN = 1_000;

export interface Swept {
  readonly settled: number;
  /** Invoices that another writer, a fault or a bug kept from being settled; the next run finds them again. */
  readonly left: readonly InvoiceId[];
}

/** Settles invoices whose time is over. One that cannot be settled is told of and left; it stops no other. */
export async function expireInvoices(fx: ChangeEffects): Promise<Swept> {
  const [oldest, newest] = await fx.db.batch([
    selectDueInvoices(fx.db, fx.nowMs, { order: "oldest", limit: OLDEST_A_RUN }),
    selectDueInvoices(fx.db, fx.nowMs, { order: "newest", limit: NEWEST_A_RUN }),
  ]);
  const due = new Map([...oldest, ...newest].map((row) => [row.id, row]));
  const left: InvoiceId[] = [];
  for (const row of due.values()) if (!(await isSettled(fx, row))) left.push(row.id);
  return { settled: due.size - left.length, left };
}

async function isSettled(fx: ChangeEffects, row: InvoiceRow): Promise<boolean> {
  const { merchantId, id } = row;
  try {
    const settled = await changeInvoice(fx, { merchantId, id, read: fileOf(row) }, async (file) =>
      ok(settlementChange(file, fx.nowMs)),
    );
    return settled.ok;
  } catch {
    // The caller logs which; the reason shows itself to whoever reads the invoice.
    return false;
  }
}

/** Frees amounts that nobody watches any more. */
export async function releaseAmounts(fx: Pick<ChangeEffects, "db" | "nowMs">): Promise<void> {
  await releaseReservations(fx.db, fx.nowMs, RESERVATIONS_A_RUN);
}
