// Dependencies of deliveries, built from the environment once per invocation of the queue or the cron.

import { newOperationId, parseId } from "../../lib/ids.ts";
import { logAlert, safeMessage } from "../../lib/log.ts";
import { sleep } from "../../lib/sleep.ts";
import { logWork, NO_COST } from "../../lib/work-log.ts";
import { openWakingDb, wakeEndpoints } from "../../platform/db/client.ts";
import { databaseWithoutMerchant } from "../../platform/db/databases.ts";
import { Meter } from "../../platform/db/meter.ts";
import { isDevelopment } from "../../platform/http/deployment.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import { resolveHost } from "../../platform/resolver/host-resolver-client.ts";
import { endpointRules } from "../webhooks/dependencies.ts";
import { openSecrets } from "../webhooks/open-secrets.ts";
import { postToReceiver } from "../webhooks/receiver-client.ts";
import { parseSchedule, SCHEDULE } from "../webhooks/retry-schedule.ts";
import { type DeliverDependencies, deliverTo } from "./deliver-webhooks.ts";

type Background = (work: Promise<unknown>) => void;

/**
 * Delivers to the endpoints that queue messages name. Does not throw if one fails: its deliveries are due again when the lease ends, and the cron
 * finds them, so a message need not be redelivered.
 */
export async function deliverMessages(
  messages: readonly { readonly body: unknown }[],
  env: Env,
  background: Background,
): Promise<void> {
  await Promise.all(messages.map(({ body }) => deliverMessage(deliverDependencies(env, background), body)));
}

async function deliverMessage(deps: DeliverDependencies, body: unknown): Promise<void> {
  const webhookId = webhookIdIn(body);
  if (webhookId === undefined) return deps.report("a queue message names no endpoint", {});
  try {
    await deliverTo(deps, webhookId);
  } catch (error) {
    deps.report("deliveries to an endpoint failed", { webhookId, error: safeMessage(error) });
  }
}

function webhookIdIn(body: unknown): string | undefined {
  const id = typeof body === "object" && body !== null && "webhookId" in body ? body.webhookId : undefined;
  return typeof id === "string" ? parseId("whk", id) : undefined;
}

export function deliverDependencies(env: Env, background: Background): DeliverDependencies {
  const meter = new Meter();
  const db = openWakingDb(databaseWithoutMerchant(env, "DELIVERIES"), env, background, meter);
  let counted = NO_COST;
  const nowMs = () => Date.now();
  const schedule = parseSchedule(env.WEBHOOK_SCHEDULE_SECONDS, isDevelopment(env));
  const keys = keyringOf(env, "SECRETS_AES_KEY");
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
    report: logAlert,
    noteRound: ({ ms, ...facts }) => {
      const cost = meter.since(counted);
      counted = meter.cost;
      logWork({ work: "deliveries", ms, cost, isFault: false, facts }, env, Math.random());
    },
  };
}
