import type { GivenEffects } from "../auth/middleware.ts";
import { isDevelopment } from "../http/deployment.ts";
import { keysOf } from "../idempotency/middleware.ts";
import { invoiceEffects } from "../invoices/effects.ts";
import { isLoopback, networkOf } from "../lib/ip-network.ts";

/** Forms that one address may send in a minute, whatever they buy. */
const FORMS_A_MINUTE = 10;

/** The world as the storefront takes it, built from the environment once per request. */
export function storefrontEffects(env: Env, given: GivenEffects) {
  const isCounted = (ip: string) => !(isDevelopment(env) && isLoopback(ip));
  return {
    ...invoiceEffects(env, given),
    clock: () => Date.now(),
    keysOf: (merchantId: string) => keysOf(env, merchantId),
    background: given.background,
    newToken: () => crypto.randomUUID(),
    /** Counts a form; seconds to wait where there were too many, else 0. A limiter that cannot be asked leaves the page open, as everywhere. */
    waitOfIp: async (ip: string | null) => {
      if (ip === null || !isCounted(ip)) return 0;
      try {
        const limiter = env.RATE_LIMITER.getByName(`buy:${networkOf(ip)}`);
        const { isAllowed, resetSeconds } = await limiter.take(FORMS_A_MINUTE, given.nowMs);
        return isAllowed ? 0 : resetSeconds;
      } catch {
        return 0;
      }
    },
  };
}
