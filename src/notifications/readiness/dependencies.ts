// Dependencies for deciding whether a merchant can be paid. They are those of creating an invoice, so that both read the same data.
import { parsePollSeconds } from "../../chains/sources/poll-setting.ts";
import { invoiceDependencies } from "../../commerce/invoices/dependencies.ts";
import { isRestoring } from "../../platform/deployment/read-deployment.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";

export function readinessDependencies(env: Env, given: GivenDependencies) {
  const { macKeys, isWatched, hasSource, table, nowMs } = invoiceDependencies(env, given);
  const pollSeconds = parsePollSeconds(env.POLL_SECONDS);
  return {
    macKeys,
    isWatched,
    hasSource,
    table,
    isRestoring: () => isRestoring(env, given.sleep),
    nowMs,
    pollSeconds: pollSeconds.ok ? pollSeconds.value : null,
  };
}
