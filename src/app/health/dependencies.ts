// The dependencies of the deployment's status and of its alerts: settings, databases, mail and the operators' receiver.
import { watchedNetworks } from "../../chains/sources/chain-sources.ts";
import { parsePollSeconds } from "../../chains/sources/poll-setting.ts";
import { writePoint } from "../../lib/data-point.ts";
import { sleep } from "../../lib/sleep.ts";
import { readStatus } from "../../notifications/deployment-status/read-status.ts";
import { alertSettingsOf, databaseLimitOf } from "../../notifications/deployment-status/settings.ts";
import { measuresOf, type StatusSettings } from "../../notifications/deployment-status/status.ts";
import {
  alertPosterOf,
  alertWebhookOf,
  postAlertDependencies,
} from "../../notifications/operator-alerts/dependencies.ts";
import type { AlertDependencies } from "../../notifications/operator-alerts/send-alerts.ts";
import type { TestAlertDependencies } from "../../notifications/operator-alerts/send-test-alert.ts";
import type { Db } from "../../platform/db/client.ts";
import { databaseWithoutMerchant } from "../../platform/db/databases.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { isMailOffered, mailClientOf, mailerOf } from "../../platform/mail/dependencies.ts";
import { type ConfigurationFault, configurationFaults } from "../configuration/configuration.ts";

/** `faults`: the faults of the configuration, if already known. */
export function statusSettingsOf(
  env: Env,
  faults: readonly ConfigurationFault[] = configurationFaults(env),
): StatusSettings {
  const pollSeconds = parsePollSeconds(env.POLL_SECONDS);
  return {
    networks: watchedNetworks(env),
    pollSeconds: pollSeconds.ok ? pollSeconds.value : null,
    databaseLimitBytes: databaseLimitOf(env.DATABASE_LIMIT_GB),
    alertSettings: alertSettingsOf(env),
    fatalFaults: faults.filter(({ isFatal }) => isFatal).map(({ code }) => code),
  };
}

export function statusDatabase(env: Env): D1Database {
  return databaseWithoutMerchant(env, "HEALTH");
}

/** The job that watches the deployment. Only one run is in progress at a time, whether the cron or a request started it. */
export const WATCH_JOB = "watch-deployment";

/** Records the deployment's status as data points, if the binding ANALYTICS is set. */
export async function noteStatus(env: Env, nowMs: number): Promise<void> {
  if (env.ANALYTICS === undefined) return;
  const facts = await readStatus(statusDatabase(env), nowMs);
  for (const measure of measuresOf(facts, nowMs)) writePoint(env, measure);
}

/** `env`: with the stored origin (`withOrigin`). */
export function alertDependencies(
  env: Env,
  given: { readonly db: Db; readonly nowMs: number; readonly background: (work: Promise<unknown>) => void },
): AlertDependencies {
  const { db, nowMs } = given;
  return {
    db,
    nowMs,
    sleep,
    d1: statusDatabase(env),
    settings: statusSettingsOf(env),
    publicUrl: publicUrl(env),
    mailer: isMailOffered(env) ? mailerOf(env, given) : undefined,
    poster: alertPosterOf(env, given.background),
    newMessageId: () => crypto.randomUUID(),
  };
}

export function testAlertDependencies(env: Env, { db, sleep: pause, nowMs }: GivenDependencies): TestAlertDependencies {
  return {
    ...postAlertDependencies(),
    db,
    sleep: pause,
    client: isMailOffered(env) ? mailClientOf(env, () => nowMs) : undefined,
    webhook: alertWebhookOf(env),
    alertSettings: alertSettingsOf(env),
    publicUrl: publicUrl(env),
    newMessageId: () => crypto.randomUUID(),
  };
}
