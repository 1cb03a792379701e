// The settings of the deployment's status, its sources, and who is notified.
import { watchedNetworks } from "../../chains/sources/chain-sources.ts";
import { parsePollSeconds } from "../../chains/sources/poll-setting.ts";
import { writePoint } from "../../lib/data-point.ts";
import { sleep } from "../../lib/sleep.ts";
import { readStatus } from "../../notifications/deployment-status/read-status.ts";
import { databaseLimitOf } from "../../notifications/deployment-status/settings.ts";
import { measuresOf, type StatusSettings } from "../../notifications/deployment-status/status.ts";
import type { AlertDependencies } from "../../notifications/operator-alerts/send-alerts.ts";
import type { TestAlertDependencies } from "../../notifications/operator-alerts/send-test-alert.ts";
import type { Db } from "../../platform/db/client.ts";
import { databaseWithoutMerchant } from "../../platform/db/databases.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { isMailOffered, mailClientOf, mailerOf } from "../../platform/mail/dependencies.ts";
import { type ConfigurationFault, configurationFaults } from "../configuration/configuration.ts";

/** `faults`: of the configuration, if already known. */
export function statusSettingsOf(
  env: Env,
  faults: readonly ConfigurationFault[] = configurationFaults(env),
): StatusSettings {
  const pollSeconds = parsePollSeconds(env.POLL_SECONDS);
  return {
    networks: watchedNetworks(env),
    pollSeconds: pollSeconds.ok ? pollSeconds.value : null,
    databaseLimitBytes: databaseLimitOf(env.DATABASE_LIMIT_GB),
    fatalFaults: faults.filter(({ isFatal }) => isFatal).map(({ code }) => code),
  };
}

export function statusDatabase(env: Env): D1Database {
  return databaseWithoutMerchant(env, "HEALTH");
}

/** One run at a time, no matter what starts it. */
export const WATCH_JOB = "watch-deployment";

/** Records the deployment's status, if data points are kept. */
export async function noteStatus(env: Env, nowMs: number): Promise<void> {
  if (env.ANALYTICS === undefined) return;
  const facts = await readStatus(statusDatabase(env), nowMs);
  for (const measure of measuresOf(facts, nowMs)) writePoint(env, measure);
}

/** `env`: including its origin. */
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
  };
}

export function testAlertDependencies(env: Env, { db, sleep: pause, nowMs }: GivenDependencies): TestAlertDependencies {
  return {
    db,
    sleep: pause,
    client: isMailOffered(env) ? mailClientOf(env, () => nowMs) : undefined,
    publicUrl: publicUrl(env),
    newMailId: () => crypto.randomUUID(),
  };
}
