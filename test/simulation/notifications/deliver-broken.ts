// Deliveries that look right but are wrong. The simulator must catch each of them.
import { eq, sql } from "drizzle-orm";
import type { DeliverDependencies } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import { postRound } from "../../../src/notifications/deliveries/post-round.ts";
import { recordRound } from "../../../src/notifications/deliveries/record-round.ts";
import type { Round } from "../../../src/notifications/deliveries/round.ts";
import { leaseBatch } from "../../../src/notifications/deliveries/store.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { readWithRetry } from "../../../src/platform/db/retry.ts";
import { deliveries } from "../../../src/platform/db/schema/webhooks.ts";
import type { Deliver } from "./deliver-scenario.ts";

interface Claimed {
  readonly round: Round;
  readonly secrets: Awaited<ReturnType<DeliverDependencies["open"]>>;
}

async function claimed(
  deps: DeliverDependencies,
  webhookId: string,
  token = deps.newUlid(),
): Promise<Claimed | undefined> {
  const of = { webhookId, token, nowMs: deps.nowMs() };
  const rows = await readWithRetry(deps.sleep, async () => batch(deps.db, leaseBatch(deps.db, of)));
  if (!rows.ok) return undefined;
  const [, , found, [webhook]] = rows.value;
  if (webhook === undefined || found.length === 0) return undefined;
  const owned = found.map(({ eventId, ...row }) => ({ ...row, event: { ...row, id: eventId } }));
  // As in the real delivery, a round whose key is temporarily unavailable waits until its lease expires.
  const secrets = await deps.open(webhook.secrets).catch(() => undefined);
  return secrets && { round: { webhook, deliveries: owned, leasedAtMs: of.nowMs }, secrets };
}

/** Records all deliveries as successes, and then sends them: nothing is sent twice, but what is lost on the way stays lost. */
export const recordsFirst: Deliver = async (deps, webhookId) => {
  const held = await claimed(deps, webhookId);
  if (held === undefined) return;
  const { round, secrets } = held;
  const answer = { statusCode: 200, error: null, latencyMs: 0, response: "", retryAfter: null };
  const at = { atMs: deps.nowMs(), endedMs: deps.nowMs(), requestHeaders: {}, answer };
  const attempts = round.deliveries.map((delivery) => ({ delivery, ...at }));
  await recordRound(deps, round.webhook, { attempts, untried: [] });
  await postRound(deps, round, secrets);
};

/** Leases deliveries forever, so that a worker that crashes never returns them. */
export const withoutLease: Deliver = async (deps, webhookId) => {
  const token = deps.newUlid();
  const held = await claimed(deps, webhookId, token);
  if (held === undefined) return;
  const { round, secrets } = held;
  await deps.db
    .update(deliveries)
    .set({ nextAttemptMs: 10 ** 15 })
    .where(sql`substr(claim, 1, 26) = ${token}`);
  const posted = await postRound(deps, round, secrets);
  await recordRound(deps, round.webhook, posted);
};

/** Records a failure even if another worker holds the lease by then, so that a late failure overwrites a success. */
export const withoutToken: Deliver = async (deps, webhookId) => {
  const held = await claimed(deps, webhookId);
  if (held === undefined) return;
  const { round, secrets } = held;
  const posted = await postRound(deps, round, secrets);
  const failed = posted.attempts.filter(({ answer }) => answer.statusCode !== 200);
  for (const { delivery } of failed) {
    const { claim } = delivery;
    await deps.db.update(deliveries).set({ claim, status: "PENDING" }).where(eq(deliveries.id, delivery.id));
  }
  await recordRound(deps, round.webhook, posted);
};
