// Leases, records and finds due deliveries. `status = 'PENDING'` is written out everywhere, because otherwise the partial index deliveries_due would
// not be used. The column `claim` holds `<token>:<when it was due>`, so that a delivery can be released unchanged.
import { type SQL, sql } from "drizzle-orm";
import type { WebhookId } from "../../lib/ids.ts";
import { printJson } from "../../lib/typed-json.ts";
import type { Db } from "../../platform/db/client.ts";
import { prepared } from "../../platform/db/prepared-statement.ts";
import type { events } from "../../platform/db/schema/events.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { deliveries, deliveryAttempts, webhooks } from "../../platform/db/schema/webhooks.ts";
import { eventData } from "../../platform/events/store.ts";
import type { Health } from "../webhooks/retry-schedule.ts";
import { MANY_FAILURES } from "../webhooks/retry-schedule.ts";
import { selectWebhookById } from "../webhooks/store.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import {
  leaseMs,
  MOST_IN_FLIGHT,
  MOST_WORKERS,
  MOST_WORKERS_OF_MERCHANT,
  type Outcome,
  ROUND_SIZE,
  type RoundVerdict,
  WORKERS_KEPT_FOR_FIRST,
} from "./round.ts";

const number = (value: number): SQL => sql.raw(String(value));
const hookId = sql.placeholder("webhookId");
const nowMs = sql.placeholder("nowMs");
const token = sql.placeholder("token");

/** The longest timeout of an endpoint (webhooks/contract.ts). */
const LONGEST_TIMEOUT_MS = 30_000;
const TOKEN_LENGTH = 26;
/** A worker's clock may be this far behind the clock by which a new delivery is due. */
const CLOCKS_APART_MS = 1_000;

// Leased deliveries are due between now and the end of the longest lease. Deliveries scheduled for that time have no claim.
const isLeased = sql`held.webhook_id = ${hookId} and held.status = 'PENDING' and held.next_attempt_ms > ${nowMs}
  and held.next_attempt_ms <= ${nowMs} + ${number(leaseMs(LONGEST_TIMEOUT_MS))}`;
const isMine = sql`${isLeased} and substr(held.claim, 1, ${number(TOKEN_LENGTH)}) = ${token}`;
const leaseEnd = sql`${nowMs} + (select 2 * hook.timeout_ms from webhooks hook where hook.id = ${hookId}) + ${number(leaseMs(0))}`;

// Live leases of a merchant, by the index deliveries_leased, which leaves out scheduled deliveries. Leases of deleted endpoints are still
// included.
const isLive = sql`leased.claim is not null and leased.next_attempt_ms > ${nowMs}`;
const worker = sql`substr(leased.claim, 1, ${number(TOKEN_LENGTH)})`;
const isProbed = sql`hook.failures_in_row >= ${number(MANY_FAILURES)}`;
const isProbeDue = sql`coalesce(hook.probe_at_ms, 0) <= ${nowMs}`;

/**
 * How many deliveries a worker may lease. None if the worker's token already holds some, so that the same batch sent twice leases only once. None if
 * the endpoint or its merchant has enough workers. An endpoint that is being probed gets one if its next probe is due, and otherwise none.
 */
const room = sql`coalesce((select case
    when exists (select 1 from deliveries held where ${isMine}) then 0
    when ${isProbed} and not ${isProbeDue} then 0
    else (select case
        when busy.all_workers >= ${number(MOST_WORKERS_OF_MERCHANT)} - (busy.own_workers > 0) * ${number(WORKERS_KEPT_FOR_FIRST)} then 0
        when ${isProbed} then 1
        when busy.own_workers >= ${number(MOST_WORKERS)} then 0
        else max(0, min(${number(ROUND_SIZE)}, ${number(MOST_IN_FLIGHT)} - busy.own)) end
      from (select count(distinct ${worker}) all_workers,
          count(distinct ${worker}) filter (where leased.webhook_id = ${hookId}) own_workers,
          count(*) filter (where leased.webhook_id = ${hookId}) own
        from deliveries leased where leased.merchant_id = hook.merchant_id and ${isLive}) busy)
  end from webhooks hook where hook.id = ${hookId} and hook.is_active = 1), 0)`;

const claim = prepared(
  (of: LeaseOf) => of,
  (db) =>
    db
      .update(deliveries)
      .set({ claim: sql`${token} || ':' || next_attempt_ms`, nextAttemptMs: sql`${leaseEnd}` })
      .where(
        sql`id in (select due.id from deliveries due where due.webhook_id = ${hookId} and due.status = 'PENDING'
        and due.next_attempt_ms <= ${nowMs} + ${number(CLOCKS_APART_MS)}
        and (due.next_attempt_ms <= ${nowMs} or due.next_attempt_ms = due.created_at_ms) order by due.next_attempt_ms limit ${room})`,
      ),
);

/** While a probe is running, no other probe starts. Recording its result sets the time of the next one. */
const holdProbe = prepared(
  (of: LeaseOf) => of,
  (db) =>
    db
      .update(webhooks)
      .set({ probeAtMs: sql`${nowMs} + 2 * timeout_ms + ${number(leaseMs(0))}` })
      .where(
        sql`id = ${hookId} and is_active = 1 and failures_in_row >= ${number(MANY_FAILURES)} and coalesce(probe_at_ms, 0) <= ${nowMs}
        and exists (select 1 from deliveries held where ${isMine})`,
      ),
);

const claimed = prepared(
  (of: LeaseOf) => of,
  (db) =>
    db
      .select({
        id: sql<(typeof deliveries.$inferSelect)["id"]>`held.id`.as("held_id"),
        claim: sql<string>`held.claim`.as("held_claim"),
        attempts: sql<number>`held.attempts`.as("held_attempts"),
        step: sql<number>`held.step`.as("held_step"),
        eventId: sql<(typeof events.$inferSelect)["id"]>`event.id`.as("event_id"),
        merchantId: sql<(typeof events.$inferSelect)["merchantId"]>`event.merchant_id`.as("event_merchant"),
        type: sql<string>`event.type`.as("event_type"),
        sequence: sql<number | null>`event.sequence`.as("event_sequence"),
        data: eventData("event").as("event_data"),
        createdAtMs: sql<number>`event.created_at_ms`.as("event_created"),
      })
      .from(
        sql`deliveries held cross join events event on event.id = held.event_id where ${isMine} order by held.rowid`,
      ),
);

interface LeaseOf {
  readonly webhookId: string;
  /** A ULID of this worker, used for one lease only. */
  readonly token: string;
  readonly nowMs: number;
}

/** Leases what is due and reads it with the endpoint and its secrets; repeating the same batch leases nothing more and reads the same deliveries. */
export function leaseBatch(db: Db, of: LeaseOf) {
  return [claim(db, of), holdProbe(db, of), claimed(db, of), selectWebhookById(db, of.webhookId)] as const;
}

const list = sql`json_each(${sql.placeholder("list")}) item`;
const said = (name: string) => sql.raw(`item.value ->> '$.${name}'`);
/**
 * Which results count: those of the lease holder, and a success of any worker that made a POST for the current schedule. `attempts - step` identifies
 * the schedule, because a redelivery begins a new schedule. If the batch runs a second time, the lease is gone and the success is already recorded.
 */
const counts = (
  own: SQL,
) => sql`${own}.id = ${said("id")} and (${own}.claim = ${said("claim")} or (${said("kind")} = 'SUCCESS'
  and ${own}.status <> 'SUCCEEDED' and ${own}.attempts - ${own}.step = ${said("before")}))`;

const attemptFacts = ["atMs", "latencyMs", "statusCode", "error", "requestHeaders", "response"] as const;
// A delivery that was deleted and created again counts from 1, so attempts that are not deleted yet are overwritten.
const insertAttempts = prepared(
  (list: string) => ({ list }),
  (db) =>
    db
      .insert(deliveryAttempts)
      .select(
        sql`select own.id, own.attempts + 1, ${sql.join(attemptFacts.map(said), sql`, `)}
        from ${list} cross join deliveries own on ${counts(sql`own`)} where ${said("kind")} <> 'UNTRIED'`,
      )
      .onConflictDoUpdate({
        target: [deliveryAttempts.deliveryId, deliveryAttempts.number],
        set: Object.fromEntries(attemptFacts.map((fact) => [fact, sql.raw(`excluded.${deliveryAttempts[fact].name}`)])),
      }),
);

const settle = prepared(
  (list: string, nowMs: number) => ({ list, nowMs }),
  (db) =>
    db
      .update(deliveries)
      .set({
        status: sql`case when ${said("kind")} = 'SUCCESS' then 'SUCCEEDED' when ${said("nextMs")} is null then 'FAILED' else 'PENDING' end`,
        attempts: sql`attempts + (${said("kind")} <> 'UNTRIED')`,
        step: sql`step + (${said("kind")} <> 'UNTRIED')`,
        nextAttemptMs: sql`coalesce(${said("nextMs")}, next_attempt_ms)`,
        claim: null,
        updatedAtMs: sql`case when ${said("kind")} = 'UNTRIED' then updated_at_ms else ${nowMs} end`,
      })
      .from(list)
      .where(counts(sql`deliveries`)),
);

/** Records the result of a round, attempts first; for a delivery that another worker has leased since, only a success counts. May be repeated. */
export function recordOutcomes(db: Db, outcomes: readonly Outcome[], at: { readonly nowMs: number }) {
  const items = JSON.stringify(outcomes.map(itemOf));
  return [insertAttempts(db, items), settle(db, items, at.nowMs)] as const;
}

function itemOf(outcome: Outcome) {
  if (outcome.kind === "UNTRIED") {
    const { id, claim } = outcome.delivery;
    return { kind: outcome.kind, id, claim, nextMs: Number(claim.slice(TOKEN_LENGTH + 1)) };
  }
  const { kind, attempt } = outcome;
  const { delivery, atMs, requestHeaders, answer } = attempt;
  const { latencyMs, statusCode, error, response } = answer;
  return {
    kind,
    id: delivery.id,
    claim: delivery.claim,
    before: delivery.attempts - delivery.step,
    nextMs: kind === "FAILURE" ? outcome.nextMs : null,
    atMs,
    latencyMs,
    statusCode,
    error,
    response,
    requestHeaders: printJson(requestHeaders),
  };
}

/**
 * Updates the endpoint's health. Failures are added only if the health has not changed since it was read: if two workers read the same health, only
 * one result is recorded, and neither restores failures that a success has cleared. Writes nothing for an endpoint that was healthy and still is.
 */
export const updateHealth = prepared(
  (webhookId: WebhookId, read: Health, { health: after, hasSuccess }: RoundVerdict) => {
    const { failuresInRow: readFailures, failingSinceMs: readSinceMs } = read;
    return { webhookId, ...after, hasSuccess: hasSuccess ? 1 : 0, readFailures, readSinceMs };
  },
  (db, of) =>
    db
      .update(webhooks)
      .set({
        failuresInRow: sql`${of.failuresInRow}`,
        failingSinceMs: sql`${of.failingSinceMs}`,
        probeAtMs: sql`${of.probeAtMs}`,
      })
      .where(
        sql`id = ${hookId} and is_active = 1 and (failures_in_row <> ${of.failuresInRow} or ${of.failuresInRow} > 0)
        and (${of.hasSuccess} or (failures_in_row = ${of.readFailures}
          and failing_since_ms is ${of.readSinceMs}))`,
      ),
);

/** Aborts the batch unless the endpoint is active, still has this URL and, if `health` is given, has this health. */
export function assertFailing(db: Db, { id, url }: Pick<Webhook, "id" | "url">, of: Health | undefined) {
  const isSo =
    of === undefined
      ? sql``
      : sql` and failures_in_row = ${of.failuresInRow} and failing_since_ms is ${of.failingSinceMs}`;
  return db.insert(assertions).select(sql`select 'the endpoint is failing as it was seen to', 0
    where not exists (select 1 from webhooks where id = ${id} and is_active = 1 and url = ${url}${isSo})`);
}

export function disableWebhook(
  db: Db,
  id: WebhookId,
  of: { readonly reason: "GONE" | "FAILING"; readonly nowMs: number },
) {
  const updatedAtMs = sql`max(updated_at_ms + 1, ${of.nowMs})`;
  return db
    .update(webhooks)
    .set({ isActive: false, disabledReason: of.reason, disabledAtMs: of.nowMs, updatedAtMs })
    .where(sql`id = ${id}`);
}

/** Earliest due time of an endpoint's deliveries, up to `beforeMs`; ignores claimed deliveries. */
export const selectNextDue = prepared(
  (of: { readonly webhookId: string; readonly beforeMs: number }) => of,
  (db, of) =>
    db
      .select({ dueMs: sql<number>`next_attempt_ms`.as("due_ms") })
      .from(deliveries)
      .where(sql`webhook_id = ${hookId} and status = 'PENDING' and next_attempt_ms <= ${of.beforeMs} and claim is null`)
      .orderBy(sql`next_attempt_ms`)
      .limit(1),
);

const ofMerchant = sql`(select merchant_id from webhooks where id = ${hookId})`;

/**
 * The same merchant's other endpoints that have been due without a worker since `dueMs` or earlier, longest first: at most as many as the workers
 * that the merchant may still get, and at least one.
 */
export const selectWaiting = prepared(
  (of: { readonly webhookId: string; readonly dueMs: number; readonly nowMs: number }) => of,
  // Reads one index entry for each endpoint of the merchant.
  (db, of) =>
    db.select({ webhookId: sql<WebhookId>`other.id`.as("waiting_id") }).from(
      sql`(select hook.id, (select next_attempt_ms from deliveries where webhook_id = hook.id and status = 'PENDING'
            order by next_attempt_ms limit 1) due_ms
          from webhooks hook where hook.merchant_id = ${ofMerchant} and hook.id <> ${hookId} and hook.is_active = 1
            and (not ${isProbed} or ${isProbeDue}) and hook.id not in (select leased.webhook_id from deliveries leased
              where leased.merchant_id = ${ofMerchant} and ${isLive})) other
        where other.due_ms <= ${of.dueMs} order by other.due_ms
        limit max(1, ${number(MOST_WORKERS_OF_MERCHANT)} - (select count(distinct ${worker}) from deliveries leased
          where leased.merchant_id = ${ofMerchant} and ${isLive}))`,
    ),
);

/** The next `limit` endpoints after `after` that have pending deliveries; `webhookId` is null for an endpoint that need not be woken. */
export const selectDueEndpoints = prepared(
  (of: { readonly after: string; readonly limit: number; readonly nowMs: number }) => of,
  // However many deliveries an endpoint has pending, reads two index entries for it: one to find the endpoint, and one for its first due delivery.
  (db, of) =>
    db
      .select({
        lastId: sql<string>`owed.id`.as("owed_id"),
        webhookId: sql<WebhookId | null>`hook.id`.as("hook_id"),
        merchantId: sql<string | null>`hook.merchant_id`.as("hook_merchant"),
        dueMs: sql<number | null>`owed.due_ms`.as("owed_due"),
      })
      .from(
        sql`(with recursive step(id) as (
          select (select webhook_id from deliveries where status = 'PENDING' and webhook_id > ${of.after} order by webhook_id limit 1)
          union all
          select (select webhook_id from deliveries where status = 'PENDING' and webhook_id > step.id order by webhook_id limit 1)
            from step where step.id is not null limit ${of.limit}
        ) select id, (select next_attempt_ms from deliveries where status = 'PENDING' and webhook_id = step.id
            order by next_attempt_ms limit 1) due_ms from step where id is not null) owed
        left join webhooks hook on hook.id = owed.id and hook.is_active = 1 and owed.due_ms <= ${nowMs}
          and (hook.failures_in_row < ${number(MANY_FAILURES)} or coalesce(hook.probe_at_ms, 0) <= ${nowMs})`,
      ),
);
