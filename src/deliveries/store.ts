// Claiming, recording and finding what is due. `status = 'PENDING'` is written out everywhere, for only so is the partial index deliveries_due
// used; a claim is `<token>:<when it was due>`, so that whoever gives a delivery back can give it back as it was.
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import type { events } from "../db/schema/events.ts";
import { assertions } from "../db/schema/operations.ts";
import { deliveries, deliveryAttempts, webhooks } from "../db/schema/webhooks.ts";
import { template } from "../db/template.ts";
import type { WebhookId } from "../lib/ids.ts";
import type { Health } from "../webhooks/retry-schedule.ts";
import { MANY_FAILURES } from "../webhooks/retry-schedule.ts";
import { selectWebhookById } from "../webhooks/store.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { leaseMs, MOST_IN_FLIGHT, MOST_WORKERS, type Outcome, ROUND_SIZE, type RoundVerdict } from "./round.ts";

const number = (value: number): SQL => sql.raw(String(value));
const hookId = sql.placeholder("webhookId");
const nowMs = sql.placeholder("nowMs");
const token = sql.placeholder("token");

/** The longest that an endpoint may ask for (contract of webhooks). */
const LONGEST_TIMEOUT_MS = 30_000;
const TOKEN_LENGTH = 26;
/** A worker's clock may be behind that of whoever woke it, or of whoever thought that it would take this too. */
const CLOCKS_APART_MS = 1_000;

// What is leased lies between now and the end of the longest lease. What is scheduled for then has no claim.
const isLeased = sql`held.webhook_id = ${hookId} and held.status = 'PENDING' and held.next_attempt_ms > ${nowMs}
  and held.next_attempt_ms <= ${nowMs} + ${number(leaseMs(LONGEST_TIMEOUT_MS))}`;
const isMine = sql`${isLeased} and substr(held.claim, 1, ${number(TOKEN_LENGTH)}) = ${token}`;
const leaseEnd = sql`${nowMs} + (select 2 * hook.timeout_ms from webhooks hook where hook.id = ${hookId}) + ${number(leaseMs(0))}`;

/**
 * How many a worker may take: none where its token has taken already, so that the same batch sent twice claims once; one of an endpoint that
 * is probed, when its time has come.
 */
const room = sql`coalesce((select case
    when exists (select 1 from deliveries held where ${isMine}) then 0
    when hook.failures_in_row >= ${number(MANY_FAILURES)} then coalesce(hook.probe_at_ms, 0) <= ${nowMs}
    else (select case when count(distinct substr(held.claim, 1, ${number(TOKEN_LENGTH)})) >= ${number(MOST_WORKERS)} then 0
      else max(0, min(${number(ROUND_SIZE)}, ${number(MOST_IN_FLIGHT)} - count(*))) end
      from deliveries held where ${isLeased} and held.claim is not null)
  end from webhooks hook where hook.id = ${hookId} and hook.is_active = 1), 0)`;

const claim = template((db) =>
  db
    .update(deliveries)
    .set({ claim: sql`${token} || ':' || next_attempt_ms`, nextAttemptMs: sql`${leaseEnd}` })
    .where(
      sql`id in (select due.id from deliveries due where due.webhook_id = ${hookId} and due.status = 'PENDING'
        and due.next_attempt_ms <= ${nowMs} + ${number(CLOCKS_APART_MS)}
        and (due.next_attempt_ms <= ${nowMs} or due.next_attempt_ms = due.created_at_ms) order by due.next_attempt_ms limit ${room})`,
    ),
);

/** While a probe is under way there is no other; recording it says when the next is. */
const holdProbe = template((db) =>
  db
    .update(webhooks)
    .set({ probeAtMs: sql`${nowMs} + 2 * timeout_ms + ${number(leaseMs(0))}` })
    .where(
      sql`id = ${hookId} and is_active = 1 and failures_in_row >= ${number(MANY_FAILURES)} and coalesce(probe_at_ms, 0) <= ${nowMs}
        and exists (select 1 from deliveries held where ${isMine})`,
    ),
);

const claimed = template((db) =>
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
      data: sql<string>`event.data`.as("event_data"),
      createdAtMs: sql<number>`event.created_at_ms`.as("event_created"),
    })
    .from(sql`deliveries held cross join events event on event.id = held.event_id where ${isMine} order by held.rowid`),
);

export interface ClaimOf {
  readonly webhookId: string;
  /** A ULID of this worker's own, never used for another claim. */
  readonly token: string;
  readonly nowMs: number;
}

/** Claims what is due, and reads it with the endpoint and its secrets; the same batch again claims nothing more and reads the same. */
export function claimBatch(db: Db, of: ClaimOf) {
  return [
    claim(db, { ...of }),
    holdProbe(db, { ...of }),
    claimed(db, { ...of }),
    selectWebhookById(db, of.webhookId),
  ] as const;
}

const list = sql`json_each(${sql.placeholder("list")}) item`;
const said = (name: string) => sql.raw(`item.value ->> '$.${name}'`);
/**
 * Whose word counts: the holder's, and a success of whoever made a POST for the schedule that still runs. A redelivery begins another, which
 * shows in how many attempts are not of it. A batch that comes twice finds the claim gone and the success there.
 */
const counts = (
  own: SQL,
) => sql`${own}.id = ${said("id")} and (${own}.claim = ${said("claim")} or (${said("kind")} = 'SUCCESS'
  and ${own}.status <> 'SUCCEEDED' and ${own}.attempts - ${own}.step = ${said("before")}))`;

const attemptFacts = ["atMs", "latencyMs", "statusCode", "error", "requestHeaders", "response"] as const;
// A delivery that was forgotten and is owed again counts from 1, and the last of its old attempts may not have been swept yet.
const insertAttempts = template((db) =>
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

const settle = template((db) =>
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

/** What a round came to, attempts first; of a delivery that somebody else has by now only a success counts. May be sent again. */
export function recordOutcomes(db: Db, outcomes: readonly Outcome[], at: { readonly nowMs: number }) {
  const items = JSON.stringify(outcomes.map(itemOf));
  return [insertAttempts(db, { list: items }), settle(db, { list: items, nowMs: at.nowMs })] as const;
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
    ...{ kind, id: delivery.id, claim: delivery.claim, before: delivery.attempts - delivery.step },
    ...{ nextMs: kind === "FAILURE" ? outcome.nextMs : null, atMs, latencyMs, statusCode, error, response },
    requestHeaders: JSON.stringify(requestHeaders),
  };
}

const health = template((db) =>
  db
    .update(webhooks)
    .set({
      failuresInRow: sql`${sql.placeholder("failuresInRow")}`,
      failingSinceMs: sql`${sql.placeholder("failingSinceMs")}`,
      probeAtMs: sql`${sql.placeholder("probeAtMs")}`,
    })
    .where(
      sql`id = ${hookId} and is_active = 1 and (failures_in_row <> ${sql.placeholder("failuresInRow")} or ${sql.placeholder("failuresInRow")} > 0)
        and (${sql.placeholder("hasSuccess")} or (failures_in_row = ${sql.placeholder("readFailures")}
          and failing_since_ms is ${sql.placeholder("readSinceMs")}))`,
    ),
);

/**
 * How the endpoint has been answering. Failures add to what was read or to nothing: of two workers that read the same, one counts, and
 * none brings back what a success has made good. Writes nothing where all was well and is.
 */
export function updateHealth(db: Db, webhookId: WebhookId, read: Health, { health: after, hasSuccess }: RoundVerdict) {
  const { failuresInRow: readFailures, failingSinceMs: readSinceMs } = read;
  return health(db, { webhookId, ...after, hasSuccess: hasSuccess ? 1 : 0, readFailures, readSinceMs });
}

/** Aborts the batch unless the endpoint is active, still at this address and, where `health` is given, as that says. */
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

const nextDue = template((db) =>
  db
    .select({ dueMs: sql<number>`next_attempt_ms`.as("due_ms") })
    .from(deliveries)
    .where(
      sql`webhook_id = ${hookId} and status = 'PENDING' and next_attempt_ms <= ${sql.placeholder("beforeMs")} and claim is null`,
    )
    .orderBy(sql`next_attempt_ms`)
    .limit(1),
);

/** When the first delivery of an endpoint was or is due, up to a moment; what somebody has taken is none. */
export function selectNextDue(db: Db, of: { readonly webhookId: string; readonly beforeMs: number }) {
  return nextDue(db, of);
}

// One step of an index for each endpoint that is owed something, however much that is, and one more for what is due first.
const due = template((db) =>
  db
    .select({
      lastId: sql<string>`owed.id`.as("owed_id"),
      webhookId: sql<WebhookId | null>`hook.id`.as("hook_id"),
      merchantId: sql<string | null>`hook.merchant_id`.as("hook_merchant"),
      dueMs: sql<number | null>`owed.due_ms`.as("owed_due"),
    })
    .from(
      sql`(with recursive step(id) as (
          select (select webhook_id from deliveries where status = 'PENDING' and webhook_id > ${sql.placeholder("after")} order by webhook_id limit 1)
          union all
          select (select webhook_id from deliveries where status = 'PENDING' and webhook_id > step.id order by webhook_id limit 1)
            from step where step.id is not null limit ${sql.placeholder("limit")}
        ) select id, (select next_attempt_ms from deliveries where status = 'PENDING' and webhook_id = step.id
            order by next_attempt_ms limit 1) due_ms from step where id is not null) owed
        left join webhooks hook on hook.id = owed.id and hook.is_active = 1 and owed.due_ms <= ${nowMs}
          and (hook.failures_in_row < ${number(MANY_FAILURES)} or coalesce(hook.probe_at_ms, 0) <= ${nowMs})`,
    ),
);

/** The next `limit` endpoints behind `after` that are owed something; `webhookId` is null of one that has nothing to be woken for. */
export function selectDueEndpoints(
  db: Db,
  of: { readonly after: string; readonly limit: number; readonly nowMs: number },
) {
  return due(db, of);
}
