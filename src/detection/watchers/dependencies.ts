// Dependencies of a watcher, built from the environment once per object.

import { openChainClient } from "../../chains/dispatch/open-chain-client.ts";
import type { Network } from "../../chains/registry/networks.ts";
import { ChainPool } from "../../chains/sources/chain-pool-client.ts";
import { parseChainSources } from "../../chains/sources/chain-sources.ts";
import { parsePollSeconds } from "../../chains/sources/poll-setting.ts";
import { recordKey } from "../../chains/sources/source-host.ts";
import { invoiceDependencies } from "../../commerce/invoices/dependencies.ts";
import { writePoint } from "../../lib/data-point.ts";
import { log, unattended } from "../../lib/log.ts";
import { objectOf } from "../../lib/object-of.ts";
import { sleep } from "../../lib/sleep.ts";
import { type Db, openWakingDb } from "../../platform/db/client.ts";
import { databaseWithoutMerchant } from "../../platform/db/databases.ts";
import { Meter } from "../../platform/db/meter.ts";
import { isRestoring, withDeploymentOrThrow, withRestore } from "../../platform/deployment/read-deployment.ts";
import { applyTransfers } from "../matching/apply-transfers.ts";
import type { CreditDependencies } from "../matching/credit-invoice.ts";
import type { WatchDependencies } from "../passes/watch-pass.ts";
import type { WakeDependencies } from "./wake-watchers.ts";

/**
 * Dependencies with a client for each configured source of the network, in the order of the setting; no clients if the setting names none or is
 * invalid.
 */
export function watchDependencies(env: Env, network: Network): WatchDependencies {
  // The object finishes background work; the cron retries what fails.
  const meter = new Meter();
  const background = (work: Promise<unknown>) => void unattended(work);
  const db = openWakingDb(databaseWithoutMerchant(env, "CURSORS"), env, background, meter);
  const report = (line: string) => log("warn", { alert: line });
  const sources = parseChainSources(env);
  const own = sources.ok ? (sources.value.get(network.name) ?? []) : [];
  // Calls the global `fetch` each time: a stored reference would lose its receiver.
  const edge = { fetch: (url: string, init: RequestInit) => fetch(url, init), nowMs: () => Date.now() };
  const clients = own.map((source) => openChainClient(source, network, edge));
  return {
    db,
    meter,
    sleep,
    nowMs: () => Date.now(),
    isRestoring: async () => {
      const known = await withRestore(env, { nowMs: Date.now(), sleep });
      return !known.ok || isRestoring(known.value, sleep);
    },
    report,
    pool: new ChainPool({
      network: network.name,
      clients,
      keys: own.map((source, place) => recordKey(place, source)),
      random: Math.random,
      nowMs: edge.nowMs,
      report,
    }),
    apply: async (findings) => {
      const nowMs = Date.now();
      const known = await withDeploymentOrThrow(env, { nowMs, sleep });
      const notePaid: CreditDependencies["notePaid"] = ({ network: subject, merchantId, seconds: value }) =>
        writePoint(env, { kind: "paid", subject, merchantId, value });
      return applyTransfers({ ...invoiceDependencies(known, { db, nowMs, sleep }), notePaid }, findings);
    },
  };
}

/** POLL_SECONDS; null leaves each network its own interval. */
export function pollSecondsOf(env: Env): number | null {
  const parsed = parsePollSeconds(env.POLL_SECONDS);
  return parsed.ok ? parsed.value : null;
}

export function wakeDependencies(
  env: Env,
  { db, nowMs }: { readonly db: Db; readonly nowMs: number },
): WakeDependencies {
  const sources = parseChainSources(env);
  return {
    db,
    nowMs,
    sources: sources.ok ? sources.value : undefined,
    pollSeconds: pollSecondsOf(env),
    watcher: (network) => objectOf(env, env.NETWORK_WATCHER, network),
  };
}
