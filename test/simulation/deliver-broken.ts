// Deliveries that look right and are not: the simulator must notice each.
import { eq, sql } from "drizzle-orm";
import { readWithRetry } from "../../src/db/retry.ts";
import { deliveries } from "../../src/db/schema/webhooks.ts";
import type { DeliverEffects } from "../../src/deliveries/deliver-webhooks.ts";
import { postRound } from "../../src/deliveries/post-round.ts";
import { recordRound } from "../../src/deliveries/record-round.ts";
import type { Round } from "../../src/deliveries/round.ts";
import { claimBatch } from "../../src/deliveries/store.ts";
import type { Deliver } from "./deliver-scenario.ts";

async function claimed(fx: DeliverEffects, webhookId: string, token = fx.newUlid()): Promise<Round | undefined> {
  const of = { webhookId, token, nowMs: fx.nowMs() };
  const rows = await readWithRetry(fx.sleep, async () => fx.db.batch(claimBatch(fx.db, of)));
  if (!rows.ok) return undefined;
  const [, , found, [webhook]] = rows.value;
  if (webhook === undefined || found.length === 0) return undefined;
  const owned = found.map(({ eventId, ...row }) => ({ ...row, event: { ...row, id: eventId } }));
  return { webhook, deliveries: owned, claimedAtMs: of.nowMs };
}

/** Says that all arrived, and then sends it: nothing comes twice, and what is lost on the way is lost. */
export const recordsFirst: Deliver = async (fx, webhookId) => {
  const round = await claimed(fx, webhookId);
  if (round === undefined) return;
  const answer = { statusCode: 200, error: null, latencyMs: 0, response: "", retryAfter: null };
  const at = { atMs: fx.nowMs(), endedMs: fx.nowMs(), requestHeaders: {}, answer };
  const attempts = round.deliveries.map((delivery) => ({ delivery, ...at }));
  await recordRound(fx, round.webhook, { attempts, untried: [] });
  await postRound(fx, round, await fx.open(round.webhook.secrets));
};

/** Takes deliveries for good: who dies never gives them back. */
export const withoutLease: Deliver = async (fx, webhookId) => {
  const token = fx.newUlid();
  const round = await claimed(fx, webhookId, token);
  if (round === undefined) return;
  await fx.db
    .update(deliveries)
    .set({ nextAttemptMs: 10 ** 15 })
    .where(sql`substr(claim, 1, 26) = ${token}`);
  const posted = await postRound(fx, round, await fx.open(round.webhook.secrets));
  await recordRound(fx, round.webhook, posted);
};

/** Records a failure whoever has the delivery by now: a late one takes back what succeeded meanwhile. */
export const withoutToken: Deliver = async (fx, webhookId) => {
  const round = await claimed(fx, webhookId);
  if (round === undefined) return;
  const posted = await postRound(fx, round, await fx.open(round.webhook.secrets));
  const failed = posted.attempts.filter(({ answer }) => answer.statusCode !== 200);
  for (const { delivery } of failed) {
    const { claim } = delivery;
    await fx.db.update(deliveries).set({ claim, status: "PENDING" }).where(eq(deliveries.id, delivery.id));
  }
  await recordRound(fx, round.webhook, posted);
};
