import { sql } from "drizzle-orm";
import type { Payment } from "../../../commerce/payments/payment.ts";
import { decodePayment, needsSecondSql, paymentJson } from "../../../commerce/payments/store.ts";
import type { PaymentId } from "../../../lib/ids.ts";
import type { JsonOf } from "../../../lib/typed-json.ts";
import { orNull } from "../../../platform/db/json-rows.ts";
import { prepared } from "../../../platform/db/prepared-statement.ts";
import { payments } from "../../../platform/db/schema/payments.ts";
import { member } from "../../matching/store.ts";
import type { Page } from "../store.ts";

const network = sql.placeholder("network");
/** An open payment; `row` or `spends` is null if it cannot be read. */
export interface OpenRow {
  readonly id: PaymentId;
  readonly row: Payment | null;
  /** The outputs that its transaction spends. */
  readonly spends: JsonOf<readonly string[]> | null;
  /** The row's position in the table. */
  readonly position: number;
  /** 1 if two sources must agree before the payment is confirmed. */
  readonly needsSecond: number;
}

const openColumns = {
  id: sql<PaymentId>`payments.id`.as("payment_id"),
  row: sql`${paymentJson("payments")}`.mapWith(orNull(decodePayment)).as("row"),
  spends: sql<
    string | null
  >`case when json_valid(payments.evidence) then coalesce(payments.evidence -> '$.spends', '[]') end`.as("spends"),
  position: sql<number>`rowid`.as("position"),
  needsSecond: needsSecondSql("payments").as("needs_second"),
};

/** Open payments stored as mined above one height and up to another, in blocks that are not yet proved. */
export const selectUnprovedPayments = prepared(
  (page: Page & { readonly above: number; readonly upTo: number }) => page,
  (db, of) =>
    db
      .select(openColumns)
      .from(payments)
      .where(
        sql`network = ${network} and final_at_ms is null and rowid > ${of.after}
        and block_height > ${of.above} and block_height <= ${of.upTo}`,
      )
      .orderBy(sql`rowid`)
      .limit(of.limit),
);

/** The heights up to which blocks are proven and final, and the height of the newest block. */
export interface DueHeights {
  readonly provenHeight: number;
  readonly tipHeight: number;
  readonly finalHeight: number;
}

/**
 * Ends the recheck of payments without an invoice whose blocks are proven and final. It does in one statement what an observation of each would do,
 * because a flood has thousands of them. UNMATCHED payments are included only if they are in `list` (from `listOf`) or are growth: a source may have
 * invented a payment that a user is to decide about, so its block is read again first. `isByDepth`: the chain reports no final block, so each must
 * also be as deep as its wallet requires.
 */
export const finishLoosePayments = prepared(
  (
    of: DueHeights & {
      readonly network: string;
      readonly isByDepth: boolean;
      readonly nowMs: number;
      readonly list: string;
      readonly limit: number;
    },
  ) => ({
    ...of,
    isByDepth: of.isByDepth ? 1 : 0,
  }),
  (db, of) =>
    db
      .update(payments)
      .set({
        finalAtMs: sql`${of.nowMs}`,
        lastKnownAtMs: sql`${of.nowMs}`,
        updatedAtMs: sql`max(${of.nowMs}, updated_at_ms + 1)`,
        confirmations: sql`max(confirmations, ${of.tipHeight} - block_height + 1)`,
        receivedAtMs: sql`min(received_at_ms, coalesce(block_time_ms, received_at_ms), ${of.nowMs})`,
      })
      .where(
        sql`rowid in (select rowid from payments where network = ${network} and final_at_ms is null and invoice_id is null
        and (status = 'IGNORED' or status = 'UNMATCHED' and (tx_hash like 'block:%' or (tx_hash, output_index, block_hash,
          cryptocurrency || ' ' || to_address || ' ' || amount_units) in (select ${member("txHash")}, ${member("outputIndex")}, ${member("blockHash")},
          ${member("effect")} from json_each(${of.list}) item)))
        and block_height <= min(${of.provenHeight}, ${of.finalHeight}, ${of.tipHeight})
        and (not ${of.isByDepth} or block_height <= ${of.tipHeight} + 1 - required_confirmations) limit ${of.limit})`,
      ),
);

/** Open payments, with or without an invoice, that a recheck could change: unconfirmed, or deep enough to be confirmed or final. */
export const selectDuePayments = prepared(
  (page: Page & DueHeights & { readonly hasInvoice: boolean }) => ({ ...page, hasInvoice: page.hasInvoice ? 1 : 0 }),
  (db, of) =>
    db
      .select(openColumns)
      .from(payments)
      .where(
        sql`network = ${network} and final_at_ms is null and rowid > ${of.after} and (invoice_id is not null) = ${of.hasInvoice} and (block_height is null
        or block_height <= min(${of.provenHeight}, ${of.finalHeight})
        or status = 'DETECTED' and block_height <= min(${of.provenHeight},
          ${of.tipHeight} + 1 - max(1, required_confirmations)))`,
      )
      .orderBy(sql`rowid`)
      .limit(of.limit),
);
