// Handles one queue message: delivers an endpoint's due deliveries, round after round, within the limits of one invocation. Nothing is kept in
// memory: if a worker crashes, its lease ends, and the next worker leases its deliveries.

import type { Sleep } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { judge } from "../webhooks/retry-schedule.ts";
import { liveSecrets, type WebhookSecret } from "../webhooks/webhook.ts";
import { type PostDependencies, type Posted, postRound } from "./post-round.ts";
import { type RecordDependencies, recordRound } from "./record-round.ts";
import { endsRound, ROUNDS_AN_INVOCATION, type Round } from "./round.ts";
import { leaseBatch, selectNextDue, selectWaiting } from "./store.ts";

export interface DeliverDependencies extends PostDependencies, RecordDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  /** Decrypts the secrets; throws if the newest cannot be decrypted. */
  readonly open: (secrets: readonly WebhookSecret[]) => Promise<readonly string[]>;
  /** Called after each round, for the log. */
  readonly noteRound?: (round: RoundNote) => void;
}

/** The result of a round. */
interface RoundNote {
  readonly webhookId: string;
  readonly merchantId: string;
  readonly ms: number;
  readonly posted: number;
  readonly failed: number;
  readonly untried: number;
}

/** How long an endpoint pauses after a round that was cut short. */
const REST_SECONDS = 5;

/**
 * Makes the due deliveries of an endpoint; does nothing for an unknown endpoint. Safe to run repeatedly and concurrently. A worker ends if enough
 * others are running, so each running worker checks for more work when it is done, for this endpoint and for the merchant's others.
 */
export async function deliverTo(deps: DeliverDependencies, webhookId: string): Promise<void> {
  for (let made = 0; made < ROUNDS_AN_INVOCATION; made++) {
    const round = await leaseRound(deps, webhookId);
    if (round === undefined) return made > 0 ? wakeForNext(deps, webhookId) : undefined;
    const secrets = await secretsOf(deps, round);
    // The leases expire, and the deliveries are due again.
    if (secrets === undefined) return;
    const posted = await postRound(deps, round, secrets);
    await recordRound(deps, round.webhook, posted);
    deps.noteRound?.(roundNote(round, posted, deps.nowMs()));
    if (posted.untried.length > 0 || posted.attempts.some(endsRound)) return rest(deps, webhookId);
  }
  await wakeForNext(deps, webhookId);
}

function roundNote({ webhook, leasedAtMs }: Round, { attempts, untried }: Posted, nowMs: number): RoundNote {
  const failed = attempts.filter(({ answer }) => judge(answer) !== "SUCCESS").length;
  const { id: webhookId, merchantId } = webhook;
  return { webhookId, merchantId, ms: nowMs - leasedAtMs, posted: attempts.length, failed, untried: untried.length };
}

/** A queue message is sent for deliveries due within this time; the cron finds the others. */
const SOON_MS = 30 * SECOND_MS;

/**
 * An endpoint that has been due for this long was probably refused a worker because its merchant already had enough workers: a queue message would
 * have arrived sooner.
 */
const WAITED_MS = 5 * SECOND_MS;

/**
 * First wakes the merchant's endpoints that have waited longest without a worker, so that they take over this worker's slot, and then wakes this
 * endpoint for its next due delivery. Only a worker that delivered something does this, so that messages without work do not create new ones.
 */
async function wakeForNext(deps: DeliverDependencies, webhookId: string): Promise<void> {
  const nowMs = deps.nowMs();
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [
      selectNextDue(deps.db, { webhookId, beforeMs: nowMs + SOON_MS }),
      waitingBefore(deps, webhookId, nowMs),
    ]),
  );
  if (!rows.ok) return;
  const [[next], waiting] = rows.value;
  for (const each of waiting) await deps.wake(each.webhookId, 0);
  const leastSeconds = waiting.length === 0 ? 0 : REST_SECONDS;
  if (next !== undefined)
    await deps.wake(webhookId, Math.max(leastSeconds, Math.ceil((next.dueMs - nowMs) / SECOND_MS)));
}

/** Delays the next round of an endpoint whose round was cut short. Immediately wakes the merchant's endpoints that are waiting for a worker. */
async function rest(deps: DeliverDependencies, webhookId: string): Promise<void> {
  await deps.wake(webhookId, REST_SECONDS);
  const rows = await readWithRetry(deps.sleep, async () => waitingBefore(deps, webhookId, deps.nowMs()));
  for (const each of rows.ok ? rows.value : []) await deps.wake(each.webhookId, 0);
}

function waitingBefore(deps: DeliverDependencies, webhookId: string, nowMs: number) {
  return selectWaiting(deps.db, { webhookId, dueMs: nowMs - WAITED_MS, nowMs });
}

/** Undefined if no due delivery may be leased, or if storage does not answer. The cron then retries. */
async function leaseRound(deps: DeliverDependencies, webhookId: string): Promise<Round | undefined> {
  const of = { webhookId, token: deps.newUlid(), nowMs: deps.nowMs() };
  const rows = await readWithRetry(deps.sleep, async () => batch(deps.db, leaseBatch(deps.db, of)));
  if (!rows.ok) return undefined;
  const [, , leased, [webhook]] = rows.value;
  if (webhook === undefined || leased.length === 0) return undefined;
  const deliveries = leased.map(({ id, claim, attempts, step, eventId, ...event }) => {
    return { id, claim, attempts, step, event: { ...event, id: eventId } };
  });
  return { webhook, deliveries, leasedAtMs: of.nowMs };
}

async function secretsOf(deps: DeliverDependencies, { webhook }: Round): Promise<readonly string[] | undefined> {
  try {
    return await deps.open(liveSecrets(webhook, deps.nowMs()));
  } catch {
    // The encryption key is missing, or the newest secret cannot be decrypted: nothing can be signed, and the receiver is not at fault.
    deps.report("secrets of an endpoint cannot be decrypted", { webhookId: webhook.id });
    return undefined;
  }
}
