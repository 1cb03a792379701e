// The world as deliveries take it, built from the environment once per invocation of the queue or the cron.
import { d1Messages } from "../db/conflict.ts";
import { isDevelopment } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { parseId } from "../lib/ids.ts";
import { parseKeyring } from "../lib/keyring.ts";
import { sleep } from "../lib/sleep.ts";
import { mailerOf } from "../mail/effects.ts";
import { endpointRules, openWakingDb, wakeEndpoints } from "../webhooks/effects.ts";
import { resolveHost } from "../webhooks/host-resolver-client.ts";
import { openSecrets } from "../webhooks/open-secrets.ts";
import { postToReceiver } from "../webhooks/receiver-client.ts";
import { parseSchedule, SCHEDULE } from "../webhooks/retry-schedule.ts";
import { type DeliverEffects, deliverTo } from "./deliver-webhooks.ts";

type Background = (work: Promise<unknown>) => void;

/**
 * Works what messages of the queue name. Never throws for the sake of one: what failed is due again when its lease is over, and the cron
 * finds it, so a message need not come twice.
 */
export async function deliverMessages(
  messages: readonly { readonly body: unknown }[],
  env: Env,
  background: Background,
): Promise<void> {
  const fx = deliverEffects(env, background);
  await Promise.all(messages.map(({ body }) => deliverMessage(fx, body)));
}

async function deliverMessage(fx: DeliverEffects, body: unknown): Promise<void> {
  const webhookId = webhookIdIn(body);
  if (webhookId === undefined) return fx.report("a message of the queue that names no endpoint", {});
  try {
    await deliverTo(fx, webhookId);
  } catch (error) {
    fx.report("deliveries to an endpoint failed", { webhookId, error: wordOf(error) });
  }
}

function webhookIdIn(body: unknown): string | undefined {
  const id = typeof body === "object" && body !== null && "webhookId" in body ? body.webhookId : undefined;
  return typeof id === "string" ? parseId("whk", id) : undefined;
}

/** A failed query's own message holds what was bound. */
function wordOf(error: unknown): string {
  return d1Messages(error).at(-1) ?? typeof error;
}

export function deliverEffects(env: Env, background: Background): DeliverEffects {
  const db = openWakingDb(env, background);
  const nowMs = () => Date.now();
  const schedule = parseSchedule(env.WEBHOOK_SCHEDULE_SECONDS, isDevelopment(env));
  const keys = parseKeyring("SECRETS_AES_KEY", env.SECRETS_AES_KEY);
  const fetcher = (url: string, init: RequestInit) => fetch(url, init);
  return {
    db,
    sleep,
    nowMs,
    random: Math.random,
    newUlid: newOperationId,
    schedule: schedule.ok ? schedule.value : SCHEDULE,
    rules: endpointRules(env),
    resolve: (host) => resolveHost({ fetch: fetcher }, host),
    post: (request) => postToReceiver({ fetch: fetcher, nowMs }, request),
    open: async (secrets) => {
      if (!keys.ok) throw new Error(keys.error);
      return openSecrets(keys.value, secrets);
    },
    wake: (webhookId, delaySeconds) => wakeEndpoints(env, [webhookId], delaySeconds),
    mailer: mailerOf(env, { nowMs: Date.now(), background }),
    report: (alert, facts) => console.error(JSON.stringify({ level: "error", alert, ...facts })),
  };
}
