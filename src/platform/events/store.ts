import { type SQL, sql } from "drizzle-orm";
import { type EventId, ulidTime } from "../../lib/ids.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { type Db, withNews } from "../db/client.ts";
import { prepared, preparedInsert } from "../db/prepared-statement.ts";
import { events } from "../db/schema/events.ts";
import { deliveries } from "../db/schema/webhooks.ts";
import { assertEventSize, type EventType, isNewsForPayer, type OutboxEvent } from "./event.ts";

const insertRow = preparedInsert(events);

/**
 * An endpoint that was woken for an event so shortly before delivers this one too; an older wake may have been lost. No wake was sent for what
 * is replayed, or tried again after a long time: that is not due from its beginning.
 */
const WOKEN_MS = 10_000;

/** The id of the delivery of an event to an endpoint, as SQL over `event` and `hook`: recorded twice, it is delivered once. */
export const deliveryId = sql`'dlv_' || substr(event.id, 5, 10) || substr(event.id, -8) || substr(hook.id, -8)`;
// What is wrong with an endpoint must not abort the batch of the event.
const isSubscribed = sql`exists (select 1 from json_each(iif(json_valid(hook.events), hook.events, '[]')) wanted
  where wanted.value in (event.type, '*', substr(event.type, 1, instr(event.type, '.')) || '*'))`;
/**
 * An endpoint that was switched off is owed what happens from then on; it waits until the endpoint is on again. The event of its own end is for
 * the others alone, and an endpoint is owed nothing where it was never on or its merchant is gone.
 */
const isOwed = sql`(hook.is_active = 1 or hook.disabled_at_ms is not null
  and not (event.type = 'webhook.endpoint_disabled' and event.data ->> '$.webhookId' = hook.id))`;
const isFirstDue = sql`hook.is_active = 1 and not exists (select 1 from deliveries other where other.webhook_id = hook.id and other.status = 'PENDING'
  and other.next_attempt_ms between event.created_at_ms - ${sql.raw(String(WOKEN_MS))} and event.created_at_ms
  and other.next_attempt_ms = other.created_at_ms)`;

const insertDeliveries = prepared(
  (ids: readonly EventId[]) => ({ ids: JSON.stringify(ids) }),
  (db, of) =>
    db
      .insert(deliveries)
      .select(
        sql`select ${deliveryId}, event.merchant_id, hook.id, event.id, event.type, 'PENDING', 0, 0, event.created_at_ms, null, ${isFirstDue},
        event.created_at_ms, event.created_at_ms
        from json_each(${of.ids}) item cross join events event on event.id = item.value
        cross join webhooks hook on hook.merchant_id = event.merchant_id
        where ${isOwed} and ${isSubscribed} order by event.rowid`,
      )
      .onConflictDoNothing()
      .returning({ webhookId: deliveries.webhookId, wakes: deliveries.wakes }),
  (all) => ({ ids: JSON.stringify(all.flatMap(({ ids }) => parseJson<readonly EventId[]>(ids))) }),
);

/**
 * What the endpoints that subscribe to events are owed, those that were switched off too. Subscriptions are read once, when the event happens, so
 * that no switch and no change of a subscription can come between. Goes behind the events, in their batch; skips ids of no event.
 */
export function fanOut(db: Db, ids: readonly EventId[]) {
  return withNews(insertDeliveries(db, ids), (rows) => ({
    wake: rows.flatMap(({ webhookId, wakes }) => (wakes ? webhookId : [])),
  }));
}

/** An event that is not an invoice's. */
export interface LooseEvent extends Pick<OutboxEvent, "id" | "merchantId" | "createdAtMs"> {
  readonly type: EventType;
  /** What its feature declares for the type. */
  readonly data: object;
}

/** One event that is not an invoice's, and to whom it is owed; in the batch of its change. */
export function recordEvent(db: Db, { data, ...event }: LooseEvent) {
  return recordOutbox(db, [{ ...event, invoiceId: null, sequence: null, data: JSON.stringify(data) }]);
}

/** Records events, at least one, in the batch of their change, with their deliveries; open pages of their invoices are notified. */
export function recordOutbox(db: Db, rows: readonly OutboxEvent[]) {
  for (const row of rows) assertEventSize(row);
  return [
    ...rows.map((row) => insertEvent(db, row)),
    fanOut(
      db,
      rows.map(({ id }) => id),
    ),
  ];
}

function insertEvent(db: Db, row: OutboxEvent) {
  const inserted = insertRow(db, row);
  if (!isNewsForPayer(row)) return inserted;
  return withNews(inserted, () => ({ tell: [`${row.merchantId} ${row.invoiceId}`] }));
}

const columns = {
  id: events.id,
  merchantId: events.merchantId,
  type: events.type,
  sequence: events.sequence,
  data: events.data,
  createdAtMs: events.createdAtMs,
};

export interface EventPage {
  /** Undefined for all; not empty. */
  readonly types?: readonly EventType[] | undefined;
  readonly invoiceId?: string | undefined;
  /** Ascending, from the event behind this one; "0" for the oldest kept. Otherwise newest first. */
  readonly after?: string | undefined;
  /** Older than this event. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/**
 * Events in the order in which they were committed, which is that of their rows' numbers and not of their clocks: an event may be committed
 * after another with a later time, and a poller that goes on from the last one it saw must not miss it. Reads no more rows than the page has, for
 * each type that is asked for; of one invoice it reads that invoice's. `merchantId` may be a path's, unproved.
 */
export function selectEventPage(db: Db, merchantId: string, page: EventPage) {
  const { types, invoiceId, limit } = page;
  const [from, beyond, order] =
    page.after === undefined ? ([page.before, sql`<`, sql`desc`] as const) : ([page.after, sql`>`, sql`asc`] as const);
  const isOnwards =
    from === undefined || from === "0"
      ? sql``
      : sql` and rowid ${beyond} (select rowid from events where id = ${from})`;
  const wanted = types === undefined ? undefined : sql`json_each(${JSON.stringify(types)})`;
  const query = db.select(columns).from(events).limit(limit).$dynamic();
  if (invoiceId !== undefined) {
    // What was seen last is of the same invoice, as a rule, and then its sequence says where to begin.
    const isLater = sql`sequence ${beyond} coalesce((select sequence from events where id = ${from ?? ""} and invoice_id = ${invoiceId}),
      ${page.after === undefined ? Number.MAX_SAFE_INTEGER : 0})`;
    const isOfType = wanted === undefined ? sql`` : sql` and type in (select value from ${wanted})`;
    return query
      .where(sql`+merchant_id = ${merchantId} and invoice_id = ${invoiceId} and ${isLater}${isOfType}${isOnwards}`)
      .orderBy(sql`sequence ${order}`);
  }
  const ofType = (type: SQL) => sql`merchant_id = ${merchantId} and type = ${type}${isOnwards}`;
  if (wanted === undefined || types?.length === 1) {
    const found = wanted === undefined ? sql`merchant_id = ${merchantId}${isOnwards}` : ofType(sql`${types?.[0]}`);
    return query.where(found).orderBy(sql`rowid ${order}`);
  }
  const found = sql`rowid in (select own.rowid from ${wanted} each_type cross join events own
    on own.rowid in (select rowid from events where ${ofType(sql`each_type.value`)} order by rowid ${order} limit ${limit}))`;
  return query.where(found).orderBy(sql`rowid ${order}`);
}

/** One event of a merchant. Both ids may be a path's, unproved. */
export function selectMerchantEvent(db: Db, merchantId: string, id: string) {
  return db.select(columns).from(events).where(sql`id = ${id} and merchant_id = ${merchantId}`);
}

/** Whether the merchant has the event, and their newest; for a poller that goes on from it. */
export function selectPlace(db: Db, merchantId: string, id: string) {
  return db
    .select({
      isKnown: sql<number>`exists (select 1 from events where id = ${id} and merchant_id = ${merchantId})`.as(
        "is_known",
      ),
      newest:
        sql<EventId | null>`(select id from events where merchant_id = ${merchantId} order by rowid desc limit 1)`.as(
          "newest",
        ),
    })
    .from(sql`(select 1)`);
}

/** Deletes events of before `beforeMs`; bounded, oldest first. An id can be older than its event, never younger. */
export function forgetOldEvents(db: Db, of: { readonly beforeMs: number; readonly limit: number }) {
  return db.delete(events).where(
    sql`id in (select old.id from events old where old.id < ${`evt_${ulidTime(of.beforeMs)}`} and old.created_at_ms < ${of.beforeMs}
      order by old.id limit ${of.limit})`,
  );
}
