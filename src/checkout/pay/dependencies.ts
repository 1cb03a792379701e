// Dependencies of the checkout, built from the environment once per request.

import { keysOf } from "../../accounts/pipeline/answer-once.ts";
import { invoiceDependencies } from "../../commerce/invoices/dependencies.ts";
import { LIMITS } from "../../lib/limits.ts";
import { objectOf } from "../../lib/object-of.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { countedCallers, waitOfIp } from "../../platform/http/rate-check.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import type { RevocationsRpc } from "../../platform/revocations/revocation.ts";

export function checkoutDependencies(env: Env, given: GivenDependencies) {
  const copyKeys = keyringOf(env, "API_KEY_MAC_KEY");
  return {
    ...invoiceDependencies(env, given),
    clock: () => Date.now(),
    keysOf: (invoiceId: string) => keysOf(env, invoiceId),
    background: given.background,
    callersOf: (ip: string | null) => countedCallers(env, ip),
    copyKeys: copyKeys.ok ? copyKeys.value : undefined,
    hasChanged: async (merchantId: string, sinceMs: number) => {
      const object: Pick<RevocationsRpc, "revocationsSince"> = objectOf(env, env.MERCHANT_OBJECT, merchantId);
      return (await object.revocationsSince(sinceMs, 0, 1)).length > 0;
    },
    /** Counts a payer's choice of a method. Returns the seconds to wait if there were too many, otherwise 0. */
    waitOfIp: (ip: string | null) =>
      waitOfIp(env, ip, {
        act: "pick",
        take: (limiter, times) => limiter.take(LIMITS.methodPicksPerIpAndMinute * times, given.nowMs),
      }),
  };
}

export type CheckoutDependencies = ReturnType<typeof checkoutDependencies>;
