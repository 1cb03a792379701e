import { getTableColumns, type SQL, sql } from "drizzle-orm";
import { type DeliveryId, type MerchantId, ulidTime, type WebhookId } from "../../lib/ids.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { Db } from "../../platform/db/client.ts";
import { jsonObject, rowDecoder, rowsDecoder } from "../../platform/db/json-rows.ts";
import { deliveries, deliveryAttempts, webhooks } from "../../platform/db/schema/webhooks.ts";
import { withNews } from "../../platform/db/statement.ts";
import type { EventType } from "../../platform/events/event.ts";
import { deliveryId } from "../../platform/events/store.ts";
import { DELIVERY_STATUSES, type DeliveryStatus } from "./delivery-body.ts";

/** A response contains at most this many attempts, the newest ones. */
const LOGGED = 50;

const lastAttempt = sql`(select ${jsonObject(deliveryAttempts, "last")} from delivery_attempts last
    where last.delivery_id = deliveries.id and last.number = deliveries.attempts)`
  .mapWith(rowDecoder(deliveryAttempts))
  .as("last_attempt");
const log = sql`(select json_group_array(${jsonObject(deliveryAttempts, "own")}) from (
    select * from delivery_attempts where delivery_id = deliveries.id order by number desc limit ${sql.raw(String(LOGGED))}) own)`
  .mapWith(rowsDecoder(deliveryAttempts))
  .as("log");
const hasEvent = sql`exists (select 1 from events where events.id = deliveries.event_id)`
  .mapWith(Boolean)
  .as("has_event");
const columns = { ...getTableColumns(deliveries), lastAttempt };

export interface DeliveriesOf {
  readonly merchantId: string;
  readonly webhookId: string;
}

/** An endpoint's deliveries, newest first in commit order, optionally `before` a delivery. The ids may come unchecked from a path. */
export function selectDeliveryPage(
  db: Db,
  of: DeliveriesOf,
  page: { readonly status?: DeliveryStatus | undefined; readonly before: string | undefined; readonly limit: number },
) {
  const isOlder =
    page.before === undefined
      ? sql``
      : sql` and rowid < (select rowid from deliveries where id = ${page.before} and +webhook_id = ${of.webhookId})`;
  const ofStatus = (status: DeliveryStatus) => sql`webhook_id = ${of.webhookId} and status = ${status}${isOlder}`;
  // The index is ordered by status, so this reads a page of each status and takes the newest of these rows.
  const pages = DELIVERY_STATUSES.map(
    (status) =>
      sql`select rowid from (select rowid from deliveries where ${ofStatus(status)} order by rowid desc limit ${page.limit})`,
  );
  const found =
    page.status === undefined ? sql`rowid in (${sql.join(pages, sql` union all `)})` : ofStatus(page.status);
  return db
    .select(columns)
    .from(deliveries)
    .where(sql`${found} and +merchant_id = ${of.merchantId}`)
    .orderBy(sql`rowid desc`)
    .limit(page.limit);
}

/** An event's deliveries, ordered by endpoint: at most one for each. The ids may come unchecked from a path. */
export function selectEventDeliveries(
  db: Db,
  { merchantId, eventId }: { readonly merchantId: string; readonly eventId: string },
) {
  return db
    .select(columns)
    .from(deliveries)
    .where(sql`id in (select ${deliveryId} from events event cross join webhooks hook on hook.merchant_id = event.merchant_id
      where event.id = ${eventId} and event.merchant_id = ${merchantId})`)
    .orderBy(deliveries.webhookId);
}

/** One delivery with its attempts. The ids may come unchecked from a path. */
export function selectDelivery(db: Db, of: DeliveriesOf & { readonly deliveryId: string }) {
  return db
    .select({ ...columns, log, hasEvent })
    .from(deliveries)
    .where(sql`id = ${of.deliveryId} and +webhook_id = ${of.webhookId} and merchant_id = ${of.merchantId}`);
}

/** Whether no worker has leased the delivery: a leased one is being attempted already. */
const isFree = (nowMs: number) =>
  sql`not (deliveries.status = 'PENDING' and deliveries.claim is not null and deliveries.next_attempt_ms > ${nowMs})`;

/** Makes a delivery due before all others of its endpoint, unless a worker has leased it. */
export function reopenDelivery(db: Db, id: DeliveryId, nowMs: number) {
  return db
    .update(deliveries)
    .set({ status: "PENDING", step: 0, nextAttemptMs: 0, claim: null, updatedAtMs: sql`max(updated_at_ms, ${nowMs})` })
    .where(sql`id = ${id} and ${isFree(nowMs)}`);
}

/** Makes an endpoint due at once, even if it is only being probed. */
export function wakeWebhook(db: Db, id: WebhookId) {
  const woken = db
    .update(webhooks)
    .set({ probeAtMs: null })
    .where(sql`id = ${id} and is_active = 1`)
    .returning({ webhookId: webhooks.id });
  return withNews(woken, (rows) => ({ wake: rows.map(({ webhookId }) => webhookId) }));
}

interface Replay {
  readonly merchantId: MerchantId;
  readonly fromMs: number;
  readonly toMs: number;
  readonly types: readonly EventType[];
}

/** The longest time between an event's time and its commit. Apart from this delay, events are committed in the order of their times. */
const SLOWEST_CHANGE_MS = HOUR_MS;

/**
 * Row ids of a merchant's events in a time range. A binary search over the rows, which are in commit order, finds the first row of the range and the
 * first row after it, each with a margin of `SLOWEST_CHANGE_MS`. Only the index entries between these two rows are read, however many events the
 * merchant has.
 */
function rowsOf({ merchantId, fromMs, toMs, types }: Replay, limit: number): SQL {
  return sql`with recursive edge(of_ms, low, high) as (
      select each_edge.value, 1, 1 + coalesce((select rowid from events where merchant_id = ${merchantId} order by rowid desc limit 1), 0)
        from json_each(${JSON.stringify([fromMs - SLOWEST_CHANGE_MS, toMs + SLOWEST_CHANGE_MS])}) each_edge
      union all
      select of_ms, case when near.rowid < high and near.created_at_ms < of_ms then near.rowid + 1 else low end,
          case when near.rowid < high and near.created_at_ms < of_ms then high else (low + high) / 2 end
        from edge left join events near on near.rowid = (select next.rowid from events next
          where next.merchant_id = ${merchantId} and next.rowid >= (low + high) / 2 order by next.rowid limit 1)
        where low < high),
    span(first, last) as (select min(low), max(low) from edge where low >= high)
    select own.rowid from span cross join json_each(${JSON.stringify(types)}) each_type
      cross join events own on own.merchant_id = ${merchantId} and own.type = each_type.value
        and own.rowid >= span.first and own.rowid < span.last
      where own.created_at_ms >= ${fromMs} and own.created_at_ms < ${toMs} limit ${limit}`;
}

/** The pace at which a replay's deliveries become due. */
interface Pace {
  readonly atOnce: number;
  readonly everyMs: number;
}

/** Number of events that a replay covers; counts up to `most`. */
export function countReplay(db: Db, replay: Replay, most: number) {
  return db.select({ count: sql<number>`count(*)`.as("count") }).from(sql`(${rowsOf(replay, most)})`);
}

/**
 * Schedules the events for an endpoint again, `atOnce` of them every `everyMs` in commit order, so that new events go out between them. Skips
 * deliveries that a worker has leased.
 */
export function insertReplay(
  db: Db,
  replay: Replay,
  of: { readonly webhookId: WebhookId; readonly most: number; readonly nowMs: number } & Pace,
) {
  const { nowMs } = of;
  return db
    .insert(deliveries)
    .select(
      sql`select ${deliveryId}, event.merchant_id, hook.id, event.id, event.type, 'PENDING', 0, 0,
          ${nowMs} + (row_number() over (order by event.rowid) - 1) / ${sql.raw(String(of.atOnce))} * ${of.everyMs}, null, 0, ${nowMs}, ${nowMs}
        from webhooks hook cross join events event on event.rowid in (${rowsOf(replay, of.most)})
        where hook.id = ${of.webhookId} and hook.is_active = 1`,
    )
    .onConflictDoUpdate({
      target: deliveries.id,
      set: {
        status: "PENDING",
        step: 0,
        nextAttemptMs: sql`excluded.next_attempt_ms`,
        claim: null,
        updatedAtMs: sql`excluded.updated_at_ms`,
      },
      setWhere: isFree(nowMs),
    });
}

/**
 * Deletes deliveries whose event is older than `beforeMs`, if they were last updated before `beforeMs` or the event is gone. At most `limit`, oldest
 * first: ids begin with the event's time.
 */
export function forgetOldDeliveries(db: Db, of: Sweep) {
  return db.delete(deliveries).where(
    sql`id in (select old.id from deliveries old where old.id < ${idAt(of.beforeMs)}
      and (old.updated_at_ms < ${of.beforeMs} or not exists (select 1 from events where events.id = old.event_id))
      order by old.id limit ${of.limit})`,
  );
}

/** Deletes old attempts, and attempts of deliveries that no longer exist. Must therefore run after `forgetOldDeliveries`. */
export function forgetOldAttempts(db: Db, of: Sweep) {
  return db.delete(deliveryAttempts).where(
    sql`rowid in (select old.rowid from delivery_attempts old
      where old.delivery_id < ${idAt(of.beforeMs)}
      and (old.at_ms < ${of.beforeMs} or not exists (select 1 from deliveries where deliveries.id = old.delivery_id))
      order by old.delivery_id limit ${of.limit})`,
  );
}

interface Sweep {
  readonly beforeMs: number;
  readonly limit: number;
}

function idAt(ms: number): string {
  return `dlv_${ulidTime(ms)}`;
}
