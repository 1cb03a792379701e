// The invoices that change only because time passes: the candidates of a sweep.
import { asc, desc, type SQL, sql } from "drizzle-orm";
import type { MerchantId } from "../../../lib/ids.ts";
import type { Db } from "../../../platform/db/client.ts";
import { invoices } from "../../../platform/db/schema/invoices.ts";
import { merchantTurns } from "../../../platform/db/schema/unsettled-invoices.ts";
import { ASLEEP_AFTER_MS, STALLED_AFTER_MS } from "../../settlement/closing.ts";

function isDue(nowMs: number, reorgWindows: string): SQL {
  const isHeldOpen = sql`exists (select 1 from payment_methods method join network_cursors cursor on cursor.network = method.network
    where method.invoice_id = invoices.id and method.status = 'ACTIVE' and cursor.is_resting = 0
    and (cursor.passed_ms <= invoices.expires_at_ms and (cursor.paused_at_ms is not null or cursor.last_moved_at_ms > ${nowMs - STALLED_AFTER_MS}
        or cursor.ticked_at_ms is null or cursor.ticked_at_ms <= ${nowMs - ASLEEP_AFTER_MS})
      or exists (select 1 from stuck_addresses stuck where stuck.network = method.network and stuck.address = method.address
        and stuck.passed_ms <= invoices.expires_at_ms)))`;
  const isUnsettled = sql`exists (select 1 from payments paid where paid.invoice_id = invoices.id
    and (paid.received_at_ms <= max(invoices.expires_at_ms, coalesce(invoices.late_grace_until_ms, 0))
      or invoices.late_payment_policy = 'ACCEPT' and paid.received_at_ms <= invoices.monitor_until_ms)
    and (paid.status = 'DETECTED' or paid.status = 'CONFIRMED' and paid.weighed_by = 'NO_RATE' or paid.status = 'REORGED'
      and paid.reorged_at_ms + coalesce(json_extract(${reorgWindows}, '$.' || paid.network), 0) > ${nowMs}))`;
  return sql`status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') and expires_at_ms < ${nowMs}
    and case when closed_at_ms is null then status = 'AWAITING_PAYMENT' and not ${isHeldOpen} else not ${isUnsettled} end`;
}

const neverFailed = sql`not exists (select 1 from unsettled_invoices failed where failed.invoice_id = invoices.id)`;

/**
 * Invoices that change only because time passes, ordered by expiry: the candidates of a sweep. Reads only ids, so that damaged relations do not break
 * it. `oldest` and `newest` list those that never failed, `held` those that failed and may be retried now (unsettled/store.ts). Excludes invoices
 * that wait for a network to be read beyond their end (closing.ts), or for a payment to be confirmed, mined again or priced by hand (`isUnsettled`),
 * because they would crowd out all others. `reorgWindows`: JSON that maps networks to milliseconds.
 */
export function selectDueInvoices(
  db: Db,
  nowMs: number,
  page: { readonly order: "oldest" | "newest" | "held"; readonly limit: number; readonly reorgWindows: string },
) {
  const isTurn =
    page.order === "held"
      ? sql`id in (select invoice_id from unsettled_invoices where retry_at_ms <= ${nowMs} order by retry_at_ms limit ${page.limit})`
      : neverFailed;
  return db
    .select({ id: invoices.id, merchantId: invoices.merchantId })
    .from(invoices)
    .where(sql`${isTurn} and ${isDue(nowMs, page.reorgWindows)}`)
    .orderBy(page.order === "newest" ? desc(invoices.expiresAtMs) : asc(invoices.expiresAtMs))
    .limit(page.limit);
}

/**
 * The due invoices of the next merchants with active invoices, after the last merchant served: for each merchant the ids, as JSON, of the longest due
 * invoices that never failed. Takes one index step per merchant, however many invoices each has.
 */
export function selectDueInTurn(
  db: Db,
  nowMs: number,
  page: { readonly merchants: number; readonly ofEach: number; readonly reorgWindows: string },
) {
  const next = (of: SQL) =>
    sql`(select merchant_id from invoices indexed by invoices_due_of_merchant
      where status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') and merchant_id > ${of} order by merchant_id limit 1)`;
  const last = sql`coalesce((select after from merchant_turns where job = ${"DUE_INVOICES"}), '')`;
  const due = sql<string>`(select json_group_array(id) from (select id from invoices indexed by invoices_due_of_merchant
    where merchant_id = step.merchant_id and ${neverFailed} and ${isDue(nowMs, page.reorgWindows)}
    order by expires_at_ms limit ${page.ofEach}))`;
  return db.select({ merchantId: sql<MerchantId>`step.merchant_id`.as("step_merchant"), ids: due.as("step_ids") }).from(
    sql`(with recursive step(merchant_id) as (
          select ${next(last)} union all select ${next(sql`step.merchant_id`)} from step where step.merchant_id is not null
            limit ${page.merchants}
        ) select merchant_id from step where merchant_id is not null) step`,
  );
}

/** Stores the last merchant served; "" starts again with the first merchant. */
export function noteDueTurn(db: Db, after: string) {
  return db
    .insert(merchantTurns)
    .values({ job: "DUE_INVOICES", after })
    .onConflictDoUpdate({
      target: merchantTurns.job,
      set: { after },
      setWhere: sql`${merchantTurns.after} <> ${after}`,
    });
}
