import { eq, sql } from "drizzle-orm";
import { type Db, WAKE_COLUMN } from "../db/client.ts";
import { events } from "../db/schema/events.ts";
import { deliveries } from "../db/schema/webhooks.ts";
import { insertTemplate, template } from "../db/template.ts";
import type { EventId } from "../lib/ids.ts";
import type { EventType, OutboxEvent } from "./event.ts";
import { assertEventSize } from "./event-body.ts";
import type { EventData } from "./event-data.ts";

const insertRow = insertTemplate(events);
const eventById = template((db) =>
  db
    .select({ id: events.id })
    .from(events)
    .where(eq(events.id, sql.placeholder("id"))),
);

/** Whoever was woken for what has become due so lately takes this too; an older wake may have been lost. */
const WOKEN_MS = 10_000;

/** One of an event and an endpoint, as SQL over `event` and `hook`: whoever records it twice owes it once. */
const deliveryId = sql`'dlv_' || substr(event.id, 5, 10) || substr(event.id, -8) || substr(hook.id, -8)`;
const isSubscribed = sql`exists (select 1 from json_each(hook.events) wanted
  where wanted.value in (event.type, '*', substr(event.type, 1, instr(event.type, '.')) || '*'))`;
const isFirstDue = sql`not exists (select 1 from deliveries other where other.webhook_id = hook.id and other.status = 'PENDING'
  and other.next_attempt_ms between event.created_at_ms - ${sql.raw(String(WOKEN_MS))} and event.created_at_ms)`;

const owed = template((db) =>
  db
    .insert(deliveries)
    .select(
      sql`select ${deliveryId}, event.merchant_id, hook.id, event.id, event.type, 'PENDING', 0, 0, event.created_at_ms, null, ${isFirstDue},
        event.created_at_ms, event.created_at_ms
        from json_each(${sql.placeholder("ids")}) item cross join events event on event.id = item.value
        cross join webhooks hook on hook.merchant_id = event.merchant_id and hook.is_active = 1
        where ${isSubscribed} order by event.rowid`,
    )
    .onConflictDoNothing()
    .returning({ [WAKE_COLUMN]: sql<string | null>`case when wakes then webhook_id end`.as(WAKE_COLUMN) }),
);

/** What the endpoints that subscribe to events are owed. Goes behind the events, in their batch; ids of none are passed over. */
export function fanOut(db: Db, ids: readonly EventId[]) {
  return owed(db, { ids: JSON.stringify(ids) });
}

/** An event that is not an invoice's. */
export interface LooseEvent<T extends EventType> extends Pick<OutboxEvent, "id" | "merchantId" | "createdAtMs"> {
  readonly type: T;
  readonly data: EventData[T];
}

/** One event that is not an invoice's, and to whom it is owed; in the batch of its change. */
export function recordEvent<T extends EventType>(db: Db, { data, ...event }: LooseEvent<T>) {
  return recordOutbox(db, [{ ...event, invoiceId: null, sequence: null, data: JSON.stringify(data) }]);
}

/** Records events in the batch of the change they tell of, and to whom they are owed. At least one. */
export function recordOutbox(db: Db, rows: readonly OutboxEvent[]) {
  for (const row of rows) assertEventSize(row);
  return [
    ...rows.map((row) => insertRow(db, row)),
    fanOut(
      db,
      rows.map(({ id }) => id),
    ),
  ];
}

/** Whether an event stands, by id. */
export function selectEvent(db: Db, id: EventId) {
  return eventById(db, { id });
}
