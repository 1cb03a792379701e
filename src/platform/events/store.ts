import { type SQL, sql } from "drizzle-orm";
import { type EventId, ulidTime } from "../../lib/ids.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Db } from "../db/client.ts";
import { prepared, preparedInsert } from "../db/prepared-statement.ts";
import { events } from "../db/schema/events.ts";
import { deliveries } from "../db/schema/webhooks.ts";
import { withNews } from "../db/statement.ts";
import { assertEventSize, type EventType, isNewsForPayer, isNewsForTeam, type OutboxEvent } from "./event.ts";
import { packData, unpackData } from "./packed-data.ts";

const insertRow = preparedInsert(events);

/** The length of an event's id up to the end of its time. */
const ID_TIME_LENGTH = `evt_${ulidTime(0)}`.length;

/**
 * An endpoint that was woken for another event within this time delivers the new event too, without another wake; an older wake may have been
 * lost. Only deliveries that became due when they were created count: no wake was sent for replays and late retries.
 */
const WOKEN_MS = 10_000;

/**
 * The id of a delivery, as SQL over `event` and `hook`. It derives from both ids, so that recording a delivery twice stores it once: time and
 * database of the event, then 8 random characters of the event and 6 of the endpoint, because a merchant has few endpoints and many events in a
 * millisecond.
 */
export const deliveryId = sql`'dlv_' || substr(event.id, 5, 12) || substr(event.id, -8) || substr(hook.id, -6)`;
// Damaged subscriptions of an endpoint must not abort the batch of the event, hence `json_valid`.
const isSubscribed = sql`exists (select 1 from json_each(iif(json_valid(hook.events), hook.events, '[]')) wanted
  where wanted.value in (event.type, '*', substr(event.type, 1, instr(event.type, '.')) || '*'))`;
/**
 * A disabled endpoint still collects deliveries, which wait until it is active again; the event about its own disabling goes only to other endpoints.
 * An endpoint that was never active, or whose merchant is deleted, collects nothing.
 */
const isOwed = sql`(hook.is_active = 1 or hook.disabled_at_ms is not null
  and iif(event.type = 'webhook.endpoint_disabled', event.data ->> '$.webhookId', '') <> hook.id)`;
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
 * Inserts the deliveries of events to all subscribed endpoints, disabled ones included. Subscriptions are read only here, when the event is recorded,
 * so that a later change to a subscription has no effect on it. Must follow the events in their batch; ignores unknown ids.
 */
export function fanOut(db: Db, ids: readonly EventId[]) {
  return withNews(insertDeliveries(db, ids), (rows) => ({
    wake: rows.flatMap(({ webhookId, wakes }) => (wakes ? webhookId : [])),
  }));
}

/** An event that belongs to no invoice. */
interface LooseEvent extends Pick<OutboxEvent, "id" | "merchantId" | "createdAtMs"> {
  readonly type: EventType;
  /** The data that the feature declares for this type. */
  readonly data: object;
}

/** Records one event that belongs to no invoice, with its deliveries, in the batch of its change. */
export function recordEvent(db: Db, { data, ...event }: LooseEvent) {
  return recordOutbox(db, [{ ...event, invoiceId: null, sequence: null, data: JSON.stringify(data) }]);
}

/** Records one or more events with their deliveries, in the batch of their change; notifies the open pages of their invoices. */
export function recordOutbox(db: Db, rows: readonly OutboxEvent[]) {
  for (const row of rows) assertEventSize(row);
  return [
    ...rows.map((row) => insertEvent(db, row, rows[0])),
    fanOut(
      db,
      rows.map(({ id }) => id),
    ),
  ];
}

function insertEvent(db: Db, row: OutboxEvent, first: OutboxEvent | undefined) {
  const inserted = insertRow(db, { ...row, ...stored(row, first) });
  if (!isNewsForPayer(row) && !isNewsForTeam(row)) return inserted;
  return withNews(inserted, () => ({ tell: [`${row.merchantId} ${row.invoiceId ?? row.id}`] }));
}

/**
 * The events of a change hold the same invoice: the first event stores it, and the others store only the part after it. They are deleted together
 * (`forgetOldEvents`). Events without an invoice are stored as plain JSON.
 */
function stored({ data, headLength, ...row }: OutboxEvent, first: OutboxEvent | undefined) {
  if (headLength === undefined) return { data, headSequence: null, headLength: null };
  const head = data.slice(0, headLength);
  const isShared = first?.headLength === headLength && first.id !== row.id && first.data.startsWith(head);
  if (!isShared || !isBeside(row, first)) return { data: packData(data), headSequence: null, headLength: null };
  return { data: packData(data.slice(headLength), head), headSequence: first.sequence, headLength };
}

/** Whether two events are always deleted together: their times are equal, and so are the times in their ids. */
function isBeside(one: Omit<OutboxEvent, "data">, other: OutboxEvent): boolean {
  const isOfInvoice = one.invoiceId !== null && one.invoiceId === other.invoiceId;
  return isOfInvoice && one.createdAtMs === other.createdAtMs && timeIn(one.id) === timeIn(other.id);
}

const timeIn = (id: EventId) => id.slice(0, ID_TIME_LENGTH);

/** The whole `data` of an event, byte by byte as it was recorded. `alias`: the table's name in the surrounding query. */
export function eventData(alias: string): SQL<string> {
  const own = (column: string) => sql.raw(`${alias}.${column}`);
  const head = sql`(select head.data || ' ' || ${own("head_length")} || ' ' from events head
    where head.invoice_id = ${own("invoice_id")} and head.sequence = ${own("head_sequence")})`;
  return sql<string>`iif(${own("head_length")} is null, ${own("data")}, ${head} || ${own("data")})`.mapWith(unpackData);
}

const columns = {
  id: events.id,
  merchantId: events.merchantId,
  type: events.type,
  sequence: events.sequence,
  data: eventData("events").as("whole_data"),
  createdAtMs: events.createdAtMs,
};

interface EventPage {
  /** The types of the events; undefined for all types, never an empty list. */
  readonly types?: readonly EventType[] | undefined;
  readonly invoiceId?: string | undefined;
  /** Events after this one, oldest first; "0" starts at the oldest event. Without it: newest first. */
  readonly after?: string | undefined;
  /** Only events older than this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/**
 * Events in commit order: by rowid, not by time. An event may commit after another one with a later time, and a poller that continues from the
 * last event it has seen must not miss it. Reads at most a page of rows per type; with `invoiceId`, that invoice's events. `merchantId` may
 * come from the path, unauthenticated.
 */
export function selectEventPage(db: Db, merchantId: string, page: EventPage) {
  const { types, invoiceId, limit } = page;
  const [from, beyond, order] =
    page.after === undefined ? ([page.before, sql`<`, sql`desc`] as const) : ([page.after, sql`>`, sql`asc`] as const);
  const isOnwards =
    from === undefined || from === "0"
      ? sql``
      : sql` and rowid ${beyond} (select rowid from events where id = ${from} and +merchant_id = ${merchantId})`;
  const wanted = types === undefined ? undefined : sql`json_each(${JSON.stringify(types)})`;
  const query = db.select(columns).from(events).limit(limit).$dynamic();
  if (invoiceId !== undefined) {
    // The last event that the poller saw usually belongs to the same invoice; then its sequence shows where to start.
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

/** One event of a merchant. Both ids may come from the path, unauthenticated. */
export function selectMerchantEvent(db: Db, merchantId: string, id: string) {
  return db.select(columns).from(events).where(sql`id = ${id} and merchant_id = ${merchantId}`);
}

/** Whether the merchant has the event `id`, and the merchant's newest event; for a poller that continues from `id`. */
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

/**
 * Deletes at most `limit` events older than `beforeMs`, oldest first, and those recorded together with the last of them, because the other events of
 * a change need the first one. The time in an id can be earlier than its event's, never later.
 */
export function forgetOldEvents(db: Db, of: { readonly beforeMs: number; readonly limit: number }) {
  const old = (columns: SQL) => sql`select ${columns} from events old
    where old.id < ${`evt_${ulidTime(of.beforeMs)}`} and old.created_at_ms < ${of.beforeMs} order by old.id`;
  return db.delete(events).where(
    sql`id in (select id from (${old(sql`old.id`)} limit ${of.limit})
      union all select beside.id from (${old(sql`old.id, old.created_at_ms`)} limit 1 offset ${of.limit - 1}) last
        cross join events beside on beside.id > last.id and beside.id < substr(last.id, 1, ${ID_TIME_LENGTH}) || '~'
          and beside.created_at_ms = last.created_at_ms)`,
  );
}
