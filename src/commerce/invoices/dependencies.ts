// Dependencies of invoice operations, built from the environment once per request.

import { watchedNetworks } from "../../chains/sources/chain-sources.ts";
import { newOperationId } from "../../lib/ids.ts";
import { objectOf } from "../../lib/object-of.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { withinLimit } from "../../platform/db/retry.ts";
import { isRestoring } from "../../platform/deployment/read-deployment.ts";
import { parseRestoreEpoch, sequenceFloor } from "../../platform/deployment/restore-epoch.ts";
import { isDevelopment, publicUrl } from "../../platform/http/deployment.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import type { RateTable } from "../../rates/quote.ts";
import { rateCacheOf } from "../../rates/rate-cache.ts";
import { parseRateSource } from "../../rates/rate-setting.ts";
import { RATE_BOOK_NAME, rateSourceOf } from "../../rates/rate-source.ts";
import { type AmountPlace, placeName } from "../amounts/amount-place.ts";
import type { AmountAllocatorRpc, AmountRequest } from "../amounts/amount-request.ts";
import type { ReleaseDependencies } from "../amounts/release-amounts.ts";
import type { AllocatorRpc } from "../wallets/allocations.ts";
import type { RefreshDependencies } from "./refresh-invoice.ts";

export function invoiceDependencies(
  env: Env,
  given: {
    readonly db: Db;
    readonly nowMs: number;
    readonly sleep: Sleep;
    /** Absent if the operation activates no method. */
    readonly background?: (work: Promise<unknown>) => void;
  },
): RefreshDependencies & ReleaseDependencies {
  const { db, nowMs, sleep } = given;
  const isOpen = isDevelopment(env);
  const macKeys = keyringOf(env, "ROW_MAC_KEY");
  if (!macKeys.ok) throw new Error(macKeys.error);
  const setting = parseRateSource(env.RATE_SOURCE, isOpen);
  const rates = rateSourceOf({
    setting,
    book: () => objectOf(env, env.RATE_BOOK, RATE_BOOK_NAME),
    cache: () => rateCacheOf(env.RATE_BOOK, env.RATE_SOURCE),
    clock: { nowMs: () => Date.now(), sleep },
    background: given.background,
    nowMs: () => nowMs,
  });
  let asked: Promise<RateTable> | undefined;
  let watched: ReadonlySet<string> | undefined;
  const hasSource = (network: string): boolean => {
    watched ??= watchedNetworks(env);
    return watched.has(network);
  };
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    macKeys: macKeys.value,
    // In development a network without a source stays usable (decisions 4).
    isWatched: (network) => isOpen || hasSource(network),
    hasSource,
    body: { macKeys: macKeys.value, publicUrl: publicUrl(env), nowMs },
    table: () => {
      asked ??= rates.table();
      return asked;
    },
    isRestoring: () => isRestoring(env, sleep),
    sequenceFloor: floorOf(env.RESTORE_EPOCH),
    wakeWatcher: (network) => {
      if (hasSource(network)) given.background?.(objectOf(env, env.NETWORK_WATCHER, network).wake());
    },
    ...allocators(env, { db, sleep }),
  };
}

/** With an invalid RESTORE_EPOCH there is no floor; nothing is created then (`restoreRefusal`). */
function floorOf(setting: string | undefined): number {
  const epoch = parseRestoreEpoch(setting);
  return sequenceFloor(epoch.ok ? epoch.value : undefined);
}

/** Access to the objects that give addresses and amounts. Inside a merchant's object, several requests are combined into one call. */
function allocators(
  env: Env,
  { db, sleep }: { readonly db: Db; readonly sleep: Sleep },
): Pick<RefreshDependencies & ReleaseDependencies, "allocate" | "allocateAmounts" | "releaseAmounts"> {
  const amountsAt = (place: AmountPlace): AmountAllocatorRpc => objectOf(env, env.AMOUNT_ALLOCATOR, placeName(place));
  return {
    allocate: (keyHash, request) => {
      const allocator = (): AllocatorRpc => objectOf(env, env.ADDRESS_ALLOCATOR, keyHash);
      if (db.group === undefined) return allocator().allocate(request);
      return db.group.ask(`allocate ${keyHash}`, request, (requests) => allocator().allocateEach(requests));
    },
    allocateAmounts: async (place, requests) => {
      const allocate = (all: readonly AmountRequest[]) => withinLimit(sleep, amountsAt(place).allocate(all));
      const { group } = db;
      if (group === undefined) return allocate(requests);
      return Promise.all(requests.map((request) => group.ask(`amounts ${placeName(place)}`, request, allocate)));
    },
    releaseAmounts: (place, amounts, atMs) => withinLimit(sleep, amountsAt(place).release(amounts, atMs)),
  };
}
