// Dependencies of wallet operations, built from the environment once per request.

import { watchedNetworks } from "../../chains/chain-sources.ts";
import { newOperationId } from "../../lib/ids.ts";
import { objectOf } from "../../lib/object-of.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { isDevelopment, publicUrl } from "../../platform/http/deployment.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import type { RegisterDependencies } from "./register-wallet.ts";
import { parseMacKeys } from "./row-mac.ts";

/** The route adds the caller and the recipients of the mails. */
export function walletDependencies(
  env: Env,
  given: GivenDependencies,
): Omit<RegisterDependencies, "trail" | "audience"> {
  const { db, nowMs, sleep } = given;
  const watched = watchedNetworks(env.CHAIN_SOURCES);
  const macKeys = parseMacKeys(env.ROW_MAC_KEY);
  if (!macKeys.ok) throw new Error(macKeys.error);
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    body: { macKeys: macKeys.value, watchedNetworks: watched, nowMs },
    mailer: mailerOf(env, given),
    publicUrl: publicUrl(env),
    nextIndex: async (keyHash) => await objectOf(env, env.ADDRESS_ALLOCATOR, keyHash).nextIndex(),
    hasRegtest: (network) => isDevelopment(env) || watched.has(network),
  };
}
