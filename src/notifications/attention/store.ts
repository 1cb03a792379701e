// Reads what needs attention at a constant cost: each statement reads at most a few hundred rows of one index.
import { type SQL, sql } from "drizzle-orm";
import { NOT_CONFIGURED } from "../../commerce/cursors/cursor.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import { invoices } from "../../platform/db/schema/invoices.ts";
import { networkCursors } from "../../platform/db/schema/network-cursors.ts";
import { payments } from "../../platform/db/schema/payments.ts";
import { webhooks } from "../../platform/db/schema/webhooks.ts";
import { MAX_WEBHOOKS } from "../webhooks/webhook.ts";
import { MOST_COUNTED, MOST_SHOWN, UNDERPAID_SHOWN_MS, type WalletWarning } from "./attention.ts";

const oneMore = sql.raw(String(MOST_COUNTED + 1));
/** How many warnings of each type are read. The time of an older warning is not known. */
const WARNINGS_READ = 20;

/** The number of rows, at most `MOST_COUNTED` + 1, and the time of the oldest. `rows`: `select ... from ... where`. */
const counted = (rows: SQL) => ({
  total: sql<number>`(select count(*) from (select 1 ${rows} limit ${oneMore}))`.as("total"),
  sinceMs: sql<number>`(select created_at_ms ${rows} order by created_at_ms, id limit 1)`.as("since_ms"),
});

const unmatched = sql`from payments where merchant_id = ${sql.placeholder("merchantId")} and status = 'UNMATCHED'`;

/** These statements accept a `merchantId` that comes unchecked from a path. */
export const selectUnmatched = prepared(
  (merchantId: string) => ({ merchantId }),
  (db) =>
    db
      .select({
        id: payments.id,
        network: payments.network,
        cryptocurrency: payments.cryptocurrency,
        amountUnits: payments.amountUnits,
        txHash: payments.txHash,
        createdAtMs: payments.createdAtMs,
        ...counted(unmatched),
      })
      .from(payments)
      .where(sql`merchant_id = ${sql.placeholder("merchantId")} and status = 'UNMATCHED'`)
      .orderBy(sql`created_at_ms desc, id desc`)
      .limit(MOST_SHOWN),
);

const invoiceColumns = {
  id: invoices.id,
  externalId: invoices.externalId,
  name: invoices.name,
  status: invoices.status,
  isLate: invoices.isLate,
  createdAtMs: invoices.createdAtMs,
};

const inReview = sql`merchant_id = ${sql.placeholder("merchantId")} and needs_review = 1`;

export const selectInReview = prepared(
  (merchantId: string) => ({ merchantId }),
  (db) =>
    db
      .select({ ...invoiceColumns, ...counted(sql`from invoices where ${inReview}`) })
      .from(invoices)
      .where(inReview)
      .orderBy(sql`created_at_ms desc, id desc`)
      .limit(MOST_SHOWN),
);

// Limits the query to the newest invoices before leaving out those under review or with a decision, so that many decided invoices do not make it
// slower.
const underpaid = sql`from (select id, created_at_ms, needs_review, resolution, monitor_until_ms from invoices
  where merchant_id = ${sql.placeholder("merchantId")} and status = 'UNDERPAID' and created_at_ms > ${sql.placeholder("afterMs")}
  order by created_at_ms desc, id desc limit ${oneMore}) where needs_review = 0 and (resolution is null
    or (resolution ->> '$.action' = 'ASK_FOR_REST' and monitor_until_ms < ${sql.placeholder("nowMs")}))`;

/**
 * Recent underpaid invoices that wait for a decision: a user may accept what arrived, or ask for the rest. Leaves out invoices under review; includes
 * invoices whose requested rest was never paid.
 */
export const selectUnderpaid = prepared(
  (merchantId: string, nowMs: number) => ({ merchantId, nowMs, afterMs: nowMs - UNDERPAID_SHOWN_MS }),
  (db) =>
    db
      .select({ ...invoiceColumns, ...counted(underpaid) })
      .from(invoices)
      .where(
        sql`${invoices.id} in (select id ${underpaid} order by created_at_ms desc, id desc limit ${sql.raw(String(MOST_SHOWN))})`,
      )
      .orderBy(sql`created_at_ms desc, id desc`),
);

const warningsOf = (type: WalletWarning["type"]) =>
  sql`select * from (select type, data ->> '$.walletId' as wallet_id, created_at_ms from events
    where merchant_id = ${sql.placeholder("merchantId")} and type = ${sql.raw(`'${type}'`)} order by rowid desc limit ${sql.raw(String(WARNINGS_READ))})`;

export const selectWalletWarnings = prepared(
  (merchantId: string) => ({ merchantId }),
  (db) =>
    db
      .select({
        type: sql<WalletWarning["type"]>`warning.type`.as("warning_type"),
        walletId: sql<string>`warning.wallet_id`.as("warned_wallet"),
        atMs: sql<number>`warning.created_at_ms`.as("warned_at"),
      })
      .from(sql`(${warningsOf("wallet.gap_limit_warning")} union all ${warningsOf("wallet.amounts_low")}) warning`)
      .orderBy(sql`warned_at desc`),
);

export const selectEndpointHealth = prepared(
  (merchantId: string) => ({ merchantId }),
  (db) =>
    db
      .select({
        id: webhooks.id,
        url: webhooks.url,
        isActive: webhooks.isActive,
        failuresInRow: webhooks.failuresInRow,
        failingSinceMs: webhooks.failingSinceMs,
        disabledReason: webhooks.disabledReason,
        disabledAtMs: webhooks.disabledAtMs,
      })
      .from(webhooks)
      .where(sql`merchant_id = ${sql.placeholder("merchantId")}`)
      .limit(MAX_WEBHOOKS),
);

/** One row for each network that is paused or cannot be read now; leaves out those that cannot be read because the operator removed their source. */
export const selectDegradedNetworks = prepared(
  () => ({ removed: NOT_CONFIGURED }),
  (db, of) =>
    db
      .select({
        network: networkCursors.network,
        isResting: networkCursors.isResting,
        degradedSinceMs: networkCursors.degradedSinceMs,
        lastOutage: networkCursors.lastOutage,
        pausedAtMs: networkCursors.pausedAtMs,
      })
      .from(networkCursors)
      .where(sql`paused_at_ms is not null or degraded_since_ms is not null and last_outage is not ${of.removed}`),
);
