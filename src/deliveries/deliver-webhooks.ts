// What one message of the queue asks for: an endpoint gets what it is owed, round after round, within what one invocation may do. Nothing here
// is remembered: a worker that dies gives its deliveries back when its lease is over, and whoever comes next begins by claiming
// (webhooks.md "Delivery", reliability.md 5).
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Sleep } from "../lib/sleep.ts";
import { SECOND_MS } from "../lib/time.ts";
import { liveSecrets, type WebhookSecret } from "../webhooks/webhook.ts";
import { type PostEffects, postRound } from "./post-round.ts";
import { type RecordEffects, recordRound } from "./record-round.ts";
import { endsRound, ROUNDS_AN_INVOCATION, type Round } from "./round.ts";
import { claimBatch, selectNextDue } from "./store.ts";

export interface DeliverEffects extends PostEffects, RecordEffects {
  readonly db: Db;
  readonly sleep: Sleep;
  /** Throws where one does not open. */
  readonly open: (secrets: readonly WebhookSecret[]) => Promise<readonly string[]>;
}

/** An endpoint whose round was cut short is let rest for so long. */
const REST_SECONDS = 5;

/**
 * Delivers what is due to an endpoint, one that is unknown included: then nothing is. May run any number of times, and at the same time: who
 * finds enough of them at work leaves, so each of those looks again when it is done.
 */
export async function deliverTo(fx: DeliverEffects, webhookId: string): Promise<void> {
  for (let made = 0; made < ROUNDS_AN_INVOCATION; made++) {
    const round = await claimRound(fx, webhookId);
    if (round === undefined) return made > 0 ? wakeForNext(fx, webhookId) : undefined;
    const secrets = await secretsOf(fx, round);
    // Their leases run out, and they are due again.
    if (secrets === undefined) return;
    const posted = await postRound(fx, round, secrets);
    await recordRound(fx, round.webhook, posted);
    if (posted.untried.length > 0 || posted.attempts.some(endsRound)) return fx.wake(webhookId, REST_SECONDS);
  }
  await wakeForNext(fx, webhookId);
}

/** What is due so soon has a message sent for it; what is due later is as well found by the cron. */
const SOON_MS = 30 * SECOND_MS;

/** Only who has delivered something asks, so that messages which find nothing to do end there. */
async function wakeForNext(fx: DeliverEffects, webhookId: string): Promise<void> {
  const nowMs = fx.nowMs();
  const rows = await readWithRetry(fx.sleep, async () =>
    selectNextDue(fx.db, { webhookId, beforeMs: nowMs + SOON_MS }),
  );
  const [next] = rows.ok ? rows.value : [];
  if (next !== undefined) await fx.wake(webhookId, Math.max(0, Math.ceil((next.dueMs - nowMs) / SECOND_MS)));
}

/** Undefined where nothing is due that may be taken, and where storage does not answer: the cron comes back to it. */
async function claimRound(fx: DeliverEffects, webhookId: string): Promise<Round | undefined> {
  const of = { webhookId, token: fx.newUlid(), nowMs: fx.nowMs() };
  const rows = await readWithRetry(fx.sleep, async () => fx.db.batch(claimBatch(fx.db, of)));
  if (!rows.ok) return undefined;
  const [, , claimed, [webhook]] = rows.value;
  if (webhook === undefined || claimed.length === 0) return undefined;
  const deliveries = claimed.map(({ id, claim, attempts, step, eventId, ...event }) => {
    return { id, claim, attempts, step, event: { ...event, id: eventId } };
  });
  return { webhook, deliveries, claimedAtMs: of.nowMs };
}

async function secretsOf(fx: DeliverEffects, { webhook }: Round): Promise<readonly string[] | undefined> {
  try {
    return await fx.open(liveSecrets(webhook, fx.nowMs()));
  } catch {
    // Whose key is gone: nothing can be signed, and nothing is the receiver's fault.
    fx.report("secrets of an endpoint do not open", { webhookId: webhook.id });
    return undefined;
  }
}
