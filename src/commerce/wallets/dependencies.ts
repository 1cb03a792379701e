// Dependencies of wallet operations, built from the environment once per request.

import { watchedNetworks } from "../../chains/sources/chain-sources.ts";
import { newOperationId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { objectOf } from "../../lib/object-of.ts";
import { sleep } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { openDb } from "../../platform/db/client.ts";
import { databaseWithoutMerchant } from "../../platform/db/databases.ts";
import { answerWithin } from "../../platform/db/retry.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { isDevelopment, publicUrl } from "../../platform/http/deployment.ts";
import { waitOfMerchant } from "../../platform/http/rate-check.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import type { CheckDependencies } from "./check-networks.ts";
import type { CodeAnswer } from "./network-offer.ts";
import type { FloorDependencies } from "./read-floor.ts";
import type { RegisterDependencies } from "./register-wallet.ts";

/** How long a network may take to answer whether there is code at an address. */
const CODE_LIMIT = { limitMs: 10 * SECOND_MS, otherwise: "NO_ANSWER" } as const;

/** The route adds the caller and the recipients of the emails. */
export function walletDependencies(
  env: Env,
  given: GivenDependencies,
): Omit<RegisterDependencies, "trail" | "audience"> & Omit<CheckDependencies, "macKeys"> {
  const { db, nowMs } = given;
  const watched = watchedNetworks(env);
  const macKeys = keyringOf(env, "ROW_MAC_KEY");
  if (!macKeys.ok) throw new Error(macKeys.error);
  return {
    db,
    nowMs,
    sleep: given.sleep,
    newOperationId,
    body: { macKeys: macKeys.value, watchedNetworks: watched, nowMs },
    mailer: mailerOf(env, given),
    publicUrl: publicUrl(env),
    nextIndex: async (keyHash) => await objectOf(env, env.ADDRESS_ALLOCATOR, keyHash).nextIndex(),
    hasRegtest: (network) => isDevelopment(env) || watched.has(network),
    codeAt: async (network, address) => {
      const ask = async () => objectOf(env, env.NETWORK_WATCHER, network).codeAt(address);
      return watched.has(network) ? answerWithin<CodeAnswer>(given.sleep, ask, CODE_LIMIT) : "NO_SOURCE";
    },
    waitOf: waitOfMerchant(env, "networkChecks", (limiter) =>
      limiter.takeInHour(LIMITS.networkChecksPerMerchantAndHour, nowMs),
    ),
  };
}

/** Dependencies for reading the lowest free index of a key, which a new allocator needs. */
export function floorDependencies(env: Env): FloorDependencies {
  return { db: openDb(databaseWithoutMerchant(env, "ADDRESSES")), sleep };
}
