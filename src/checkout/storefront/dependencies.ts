import { keysOf } from "../../accounts/pipeline/answer-once.ts";
import { invoiceDependencies } from "../../commerce/invoices/dependencies.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { countedCallers, waitOfIp } from "../../platform/http/rate-check.ts";

/** Dependencies of the storefront, built from the environment once per request. */
export function storefrontDependencies(env: Env, given: GivenDependencies) {
  return {
    ...invoiceDependencies(env, given),
    clock: () => Date.now(),
    keysOf: (merchantId: string) => keysOf(env, merchantId),
    background: given.background,
    callersOf: (ip: string | null) => countedCallers(env, ip),
    newToken: () => crypto.randomUUID(),
    /** Counts a form. Returns the seconds to wait if there were too many, otherwise 0. */
    waitOfIp: (ip: string | null) =>
      waitOfIp(env, ip, {
        act: "buy",
        take: (limiter, times) => limiter.take(LIMITS.productFormsPerIpAndMinute * times, given.nowMs),
      }),
  };
}
