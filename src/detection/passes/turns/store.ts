// Reads and stores the merchants' turns. However many addresses were activated, a pass reads a bounded number of rows: a fixed number of merchants in
// each ring, and of activations per merchant.
import { type SQL, sql } from "drizzle-orm";
import type { MerchantId } from "../../../lib/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../../../lib/time.ts";
import { parseJson } from "../../../lib/typed-json.ts";
import type { Db } from "../../../platform/db/client.ts";
import { prepared } from "../../../platform/db/prepared-statement.ts";
import { watchTurns } from "../../../platform/db/schema/network-cursors.ts";
import type { Position } from "../progress.ts";
import { watchedAt } from "../store.ts";
import { type Lap, type LapState, PLACES, type Queue } from "./turn.ts";

/** How many of a merchant's activations one pass reads. */
const LOOKED_THROUGH = 100;
/** Activations count as recent for this long: most payers pay within it. */
const NEW_FOR_MS = 15 * MINUTE_MS;

const network = sql.placeholder("network");
const after = sql.placeholder("after");
const sinceMs = sql.placeholder("sinceMs");
const limit = sql.raw(String(LOOKED_THROUGH));
const places = sql.raw(String(PLACES));
/** Members after `after` in id order, then the others from the lowest id on. */
const ringOf = (members: (of: SQL) => SQL) => sql`(select * from (
    select * from (${members(sql`merchant_id > ${after}`)}) union all select * from (${members(sql`merchant_id <= ${after}`)})
  ) order by merchant_id <= ${after}, merchant_id limit ${places}) turn`;
const activations = sql`payment_methods method indexed by payment_methods_turns where method.network = turn.network and method.merchant_id = turn.merchant_id
  and method.status = 'ACTIVE' and method.address is not null and method.activated_at_ms > ${sinceMs}`;
const isBelow = sql`(method.activated_at_ms, method.rowid) < (turn.before_ms, turn.before_position)`;
const fromNewest = sql`order by method.activated_at_ms desc, method.rowid desc limit`;
const isWatched = sql`(invoice.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') or invoice.monitor_until_ms > ${sql.placeholder("nowMs")})`;
const isStuck = sql`exists (select 1 from stuck_addresses stuck where stuck.network = turn.network and stuck.address = seen.address)`;
const columns = sql`method.address, method.invoice_id, method.activated_at_ms as at_ms, method.rowid as position`;

const newest = sql<string>`(select json_group_array(address) from (
  select seen.address as address, max(seen.at_ms) as last_ms, max(seen.position) as last
  from (select ${columns} from ${activations} ${fromNewest} ${limit}) seen cross join invoices invoice on invoice.id = seen.invoice_id
  where ${isWatched} and not ${isStuck} group by seen.address order by last_ms desc, last desc limit ${places}))`;
// With `max(nth)`, the other columns come from the row that has the maximum (https://sqlite.org/lang_select.html#bareagg).
const found = sql<string>`(select json_group_array(json_object('address', address, 'activatedAtMs', at_ms, 'position', position,
    'isStuck', json(iif(is_stuck, 'true', 'false')))) from (
  select seen.address as address, seen.at_ms as at_ms, seen.position as position, max(seen.nth) as last, ${isStuck} as is_stuck
  from (select ${columns}, row_number() over (order by method.activated_at_ms desc, method.rowid desc) as nth
    from ${activations} and ${isBelow} ${fromNewest} ${limit}) seen cross join invoices invoice on invoice.id = seen.invoice_id
  where ${isWatched} group by seen.address order by last limit ${places}))`;
const end = sql<string | null>`(select json_object('activatedAtMs', method.activated_at_ms, 'position', method.rowid)
  from ${activations} and ${isBelow} ${fromNewest} 1 offset ${sql.raw(String(LOOKED_THROUGH - 1))})`;

const merchantId = sql<MerchantId>`turn.merchant_id`.as("turn_merchant");

interface RingPage {
  readonly nowMs: number;
  /** The page begins after this merchant. */
  readonly after: string;
}

/** The next merchants with recent activations, and their newest watched addresses. */
export const selectNewQueues = prepared(
  (name: string, page: RingPage) => ({ network: name, ...page, sinceMs: page.nowMs - NEW_FOR_MS }),
  (db) =>
    db.select({ merchantId, newest: newest.as("turn_newest") }).from(
      // Reads and sorts the ids of all such merchants.
      ringOf(
        (part) =>
          sql`select network, merchant_id from watch_turns indexed by watch_turns_newest where network = ${network} and activated_at_ms > ${sinceMs} and ${part} order by merchant_id limit ${places}`,
      ),
    ),
);

/** The next merchants in the ring of all merchants, with the positions of their laps. */
export const selectLaps = prepared(
  (name: string, page: RingPage) => {
    const { oldestMs, ...of } = watchedAt(name, page.nowMs);
    return { ...of, after: page.after, sinceMs: oldestMs };
  },
  (db) =>
    db
      .select({
        merchantId,
        beforeMs: sql<number>`turn.before_ms`.as("turn_before_ms"),
        beforePosition: sql<number>`turn.before_position`.as("turn_before_position"),
        hasFound: sql<number>`turn.has_found`.as("turn_has_found"),
        found: found.as("turn_found"),
        end: end.as("turn_end"),
      })
      .from(
        ringOf(
          (part) =>
            sql`select * from watch_turns where network = ${network} and ${part} order by merchant_id limit ${places}`,
        ),
      ),
);

export function newQueueOf(row: Awaited<ReturnType<typeof selectNewQueues>>[number]): Queue {
  return { merchantId: row.merchantId, addresses: parseJson<Queue["addresses"]>(row.newest) };
}

export function lapOf(row: Awaited<ReturnType<typeof selectLaps>>[number]): Lap {
  const found = parseJson<Lap["found"]>(row.found);
  const end = row.end === null ? null : parseJson<Position>(row.end);
  const before = { activatedAtMs: row.beforeMs, position: row.beforePosition };
  return { merchantId: row.merchantId, before, hasFound: row.hasFound === 1, found, end };
}

/** Stores the positions of laps. During a lap, `has_found` set by a concurrent activation is kept. */
export function updateLaps(db: Db, name: string, states: readonly LapState[]) {
  const said = (key: string) => sql.raw(`item.value ->> '$.${key}'`);
  const isOver = sql`${said("before.activatedAtMs")} = ${Number.MAX_SAFE_INTEGER}`;
  return db
    .update(watchTurns)
    .set({
      beforeMs: said("before.activatedAtMs"),
      beforePosition: said("before.position"),
      hasFound: sql`case when ${isOver} then 0 else has_found or ${said("hasFound")} end`,
    })
    .from(sql`json_each(${JSON.stringify(states)}) item`)
    .where(sql`watch_turns.network = ${name} and watch_turns.merchant_id = ${said("merchantId")}`);
}

/** Ends the turns of merchants without a watched address, except those that may have activated one since. */
export function deleteTurns(db: Db, name: string, merchantIds: readonly MerchantId[], nowMs: number) {
  return db
    .delete(watchTurns)
    .where(
      sql`network = ${name} and merchant_id in (select value from json_each(${JSON.stringify(merchantIds)})) and activated_at_ms < ${nowMs - HOUR_MS}`,
    );
}
