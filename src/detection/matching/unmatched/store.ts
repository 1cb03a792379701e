import { getTableColumns, sql } from "drizzle-orm";
import { effectText, type Transfer } from "../../../chains/sources/transfer.ts";
import type { StoredPayment } from "../../../commerce/payments/payment.ts";
import type { EventId, MerchantId } from "../../../lib/ids.ts";
import type { Db } from "../../../platform/db/client.ts";
import { prepared } from "../../../platform/db/prepared-statement.ts";
import { events } from "../../../platform/db/schema/events.ts";
import { leftOutTransfers, payments } from "../../../platform/db/schema/payments.ts";
import { fanOut } from "../../../platform/events/store.ts";
import { listed, member, network } from "../store.ts";
import { BOUNDS, DUST, UNKNOWN, UNMATCHED_A_DAY } from "../unmatched-limit.ts";

const columns = Object.entries(getTableColumns(payments));

/** The SQL of `kindOf` for an UNMATCHED row. */
const kindSql = sql.raw(
  `case when row.usd_micros is null then '${UNKNOWN}' ${BOUNDS.toReversed()
    .map((bound) => `when row.usd_micros >= ${bound} then '${bound}'`)
    .join(" ")} else '0' end`,
);
const ofAddress = (status: "UNMATCHED" | "IGNORED") =>
  sql.raw(`cross join payments row indexed by payments_loose_${status.toLowerCase()} on row.network = place.network
    and row.to_address = place.address and row.status = '${status}' and row.created_at_ms >= place.since_ms`);
// Reads the rows of each address once, however many merchants have a wallet on it.
const countedRows = sql`(select row.merchant_id, row.to_address, ${kindSql} as kind, count(*) as rows_there from place ${ofAddress("UNMATCHED")}
    group by 1, 2, 3
  union all select row.merchant_id, row.to_address, ${sql.raw(`'${DUST}'`)}, count(*) from place ${ofAddress("IGNORED")} group by 1, 2)`;
const placesIn = (addresses: unknown, sinceMs: unknown) =>
  sql`place as materialized (select value as address, ${network} as network, ${sinceMs} as since_ms from json_each(${addresses}))`;

/** How many rows without an invoice have been written since `sinceMs`, by merchant, address and `kindOf`. */
export const selectUnmatchedCounts = prepared(
  (of: { readonly network: string; readonly addresses: readonly string[]; readonly sinceMs: number }) => ({
    ...of,
    addresses: JSON.stringify(of.addresses),
  }),
  (db, of) =>
    db
      .select({
        merchantId: sql<MerchantId>`counted.merchant_id`.as("counted_merchant"),
        address: sql<string>`counted.to_address`.as("counted_address"),
        kind: sql<string>`counted.kind`.as("counted_kind"),
        rows: sql<number>`counted.rows_there`.as("counted_rows"),
      })
      .from(sql`(with ${placesIn(of.addresses, of.sinceMs)} select * from ${countedRows}) counted`),
);

const unmatchedRows = prepared(
  (of: { readonly network: string; readonly list: string; readonly addresses: string; readonly sinceMs: number }) => of,
  (db, of) =>
    db.insert(payments).select(
      sql`with ${placesIn(of.addresses, of.sinceMs)}, taken as materialized (select * from ${countedRows})
      select ${sql.join(
        columns.map(([, { name }]) => member(name)),
        sql`, `,
      )} from ${listed} left join taken on taken.merchant_id = ${member("merchant_id")} and taken.to_address = ${member("to_address")}
        and taken.kind = ${member("kind")}
      where ${member("isAsked")} or ${member("before")} + coalesce(taken.rows_there, 0) < ${sql.raw(String(UNMATCHED_A_DAY))}`,
    ),
);
const unmatchedEvents = prepared(
  (of: { readonly list: string; readonly nowMs: number }) => of,
  (db, of) =>
    db
      .insert(events)
      .select(
        sql`select case when kept.id is null then ${member("summaryId")} else ${member("eventId")} end, ${member("merchant_id")},
        'payment.unmatched', null, null, case when kept.id is null then ${member("summary")} else ${member("event")} end,
        ${of.nowMs}, null, null from ${listed} left join payments kept on kept.id = ${member("id")}
        where ${member("status")} = 'UNMATCHED'`,
      )
      .onConflictDoNothing(),
);

/** A row without an invoice, and the data of its events. */
interface UnmatchedRow {
  readonly payment: StoredPayment;
  /** The kind that it counts as (`kindOf`). */
  readonly kind: string;
  /** How many rows of the same merchant, address and kind precede it in its statement. */
  readonly before: number;
  /** Whether its merchant named the transfer: such a row is written even beyond the limit. */
  readonly isAsked: boolean;
  readonly eventId: EventId;
  /** The same id for all rows of a merchant, address, kind and day. */
  readonly summaryId: EventId;
  /** Data of the two events, as JSON. */
  readonly event: string;
  readonly summary: string;
}

/**
 * Writes rows, and an event for each UNMATCHED one. Beyond 100 rows for a merchant, address and kind since `sinceMs`, rows for transfers that the
 * merchant did not name are left out, and one summary event reports that. The SQL counts the rows, so concurrent batches cannot exceed the limit.
 */
export function insertUnmatched(
  db: Db,
  unmatchedPayments: readonly UnmatchedRow[],
  of: { readonly network: string; readonly sinceMs: number; readonly nowMs: number },
) {
  const rows = unmatchedPayments.map(({ payment, ...event }) => {
    const values = columns.map(([key, column]) => {
      const value: unknown = Reflect.get(payment, key);
      return [column.name, value === null ? null : column.mapToDriverValue(value)];
    });
    return { ...Object.fromEntries(values), ...event };
  });
  const list = JSON.stringify(rows);
  const addresses = JSON.stringify([...new Set(unmatchedPayments.map(({ payment }) => payment.toAddress))]);
  // The batch decides whether an event or a summary is written; an existing summary is not delivered again.
  const eventIds = unmatchedPayments.flatMap(({ eventId, summaryId }) => [eventId, summaryId]);
  return [
    unmatchedRows(db, { network: of.network, list, addresses, sinceMs: of.sinceMs }),
    unmatchedEvents(db, { list, nowMs: of.nowMs }),
    fanOut(db, [...new Set(eventIds)]),
  ] as const;
}

/** Records transfers that have no payment row. */
export const putLeftOut = prepared(
  (name: string, transfers: readonly Transfer[], nowMs: number) => {
    const list = transfers.map((transfer) => ({
      txHash: transfer.txHash,
      outputIndex: transfer.outputIndex,
      block: blockOf(transfer),
      effect: effectText(transfer),
    }));
    return { network: name, list: JSON.stringify(list), nowMs };
  },
  (db, of) =>
    db
      .insert(leftOutTransfers)
      .select(
        sql`select ${network}, ${member("txHash")}, ${member("outputIndex")}, ${member("block")}, ${member("effect")}, ${of.nowMs} from ${listed} where true`,
      )
      .onConflictDoUpdate({
        target: [leftOutTransfers.network, leftOutTransfers.txHash, leftOutTransfers.outputIndex],
        set: {
          blockHash: sql`excluded.block_hash`,
          effect: sql`excluded.effect`,
          decidedAtMs: sql`excluded.decided_at_ms`,
        },
      }),
);

/** `leftOutTransfers.blockHash` for a transfer's current state. */
export function blockOf({ block }: Pick<Transfer, "block">): string {
  return block?.hash ?? "";
}

/** An event that summarises the transfers that are not shown to a merchant. */
interface Summary {
  readonly id: EventId;
  readonly merchantId: MerchantId;
  readonly data: string;
}

const summaryEvents = prepared(
  (list: readonly Summary[], nowMs: number) => ({ list: JSON.stringify(list), nowMs }),
  (db, of) =>
    db
      .insert(events)
      .select(
        sql`select ${member("id")}, ${member("merchantId")}, 'payment.unmatched', null, null, ${member("data")}, ${of.nowMs}, null, null
        from ${listed} where true`,
      )
      .onConflictDoNothing(),
);

/** Records these events, each once. */
export function recordSummaries(db: Db, summaries: readonly Summary[], nowMs: number) {
  const ids = summaries.map(({ id }) => id);
  return summaries.length === 0 ? [] : [summaryEvents(db, summaries, nowMs), fanOut(db, ids)];
}

/** Deletes at most `limit` transfers that were left out before `beforeMs`. */
export function forgetLeftOut(db: Db, beforeMs: number, limit: number) {
  return db
    .delete(leftOutTransfers)
    .where(sql`rowid in (select rowid from left_out_transfers where decided_at_ms < ${beforeMs} limit ${limit})`);
}
