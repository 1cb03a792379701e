import { and, desc, lt, type SQL, sql } from "drizzle-orm";
import type { MerchantId } from "../../lib/ids.ts";
import type { Position } from "../../lib/pagination.ts";
import type { Db } from "../../platform/db/client.ts";
import { merchants } from "../../platform/db/schema/merchants.ts";
import { MOST_DUE } from "./merchant-summary.ts";

// Names of tables are written out: in a one-table statement drizzle drops them from columns inside fragments.
/** Reads at most one row for each quarter of an hour, currency and coin, however many invoices there are. */
const createdSince = (
  sinceMs: number,
) => sql<number>`(select coalesce(sum(bucket.created), 0) from report_buckets bucket
  where bucket.merchant_id = merchants.id and bucket.starts_at_ms > ${sinceMs})`;
const dueAt = (
  nowMs: number,
) => sql<number>`(select count(*) from (select 1 from webhooks endpoint cross join deliveries due
  on due.webhook_id = endpoint.id and due.status = 'PENDING' and due.next_attempt_ms <= ${nowMs}
  where endpoint.merchant_id = merchants.id limit ${MOST_DUE}))`;

/** One page, newest first: ids begin with the time. A search reads all names: an index only for searches is not worth its cost. */
export function selectMerchantPage(
  db: Db,
  of: {
    readonly search: string | undefined;
    readonly after: Position | undefined;
    readonly limit: number;
    readonly nowMs: number;
    readonly sinceMs: number;
  },
) {
  const { id, name, createdAtMs, suspendedAtMs } = merchants;
  const { search, after } = of;
  const filters: (SQL | undefined)[] = [
    sql`merchants.deleted_at_ms is null`,
    after === undefined ? undefined : lt(id, sql<MerchantId>`${after.id}`),
    search === undefined
      ? undefined
      : sql`(lower(substr(merchants.name, 1, length(${search}))) = lower(${search}) or merchants.id = ${search})`,
  ];
  return db
    .select({
      id,
      name,
      createdAtMs,
      suspendedAtMs,
      invoices: createdSince(of.sinceMs).as("invoices_of_a_day"),
      dueDeliveries: dueAt(of.nowMs).as("due_deliveries"),
    })
    .from(merchants)
    .where(and(...filters))
    .orderBy(desc(id))
    .limit(of.limit);
}
