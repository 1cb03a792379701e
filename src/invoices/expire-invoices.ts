// The sweep: every minute, bounded, idempotent. A run that is skipped or doubled changes nothing but the moment: reads settle for themselves.
import { ok } from "../lib/result.ts";
import { type ChangeEffects, changeInvoice } from "./change-invoice.ts";
import { fileOf } from "./invoice.ts";
import { settlementChange } from "./settle-invoice.ts";
import { releaseReservations, selectDueInvoices } from "./store.ts";

/** An invocation has 1,000 queries; a settled invoice takes about five. */
const INVOICES_A_RUN = 150;
const RESERVATIONS_A_RUN = 1_000;

export interface Swept {
  readonly settled: number;
  /** Invoices that another writer or a fault kept from being settled; the next run finds them again. */
  readonly left: number;
}

/** Settles invoices whose time is over, and frees amounts that nobody watches any more. */
export async function expireInvoices(fx: ChangeEffects): Promise<Swept> {
  const due = await selectDueInvoices(fx.db, fx.nowMs, INVOICES_A_RUN);
  let settled = 0;
  for (const row of due) {
    const read = fileOf(row);
    const { merchantId, id } = row;
    const outcome = await changeInvoice(fx, { merchantId, id, read }, async (file) =>
      ok(settlementChange(file, fx.nowMs)),
    );
    if (outcome.ok) settled += 1;
  }
  await releaseReservations(fx.db, fx.nowMs, RESERVATIONS_A_RUN);
  return { settled, left: due.length - settled };
}
