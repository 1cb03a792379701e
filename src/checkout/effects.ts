// The world as the checkout takes it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { isDevelopment } from "../http/deployment.ts";
import { keysOf } from "../idempotency/middleware.ts";
import { invoiceEffects } from "../invoices/effects.ts";
import { isLoopback, networkOf } from "../lib/ip-network.ts";

/** Ways to pay that one address may pick in a minute, on whatever invoices. */
const PICKS_A_MINUTE = 30;

export function checkoutEffects(env: Env, given: GivenEffects) {
  const isCounted = (ip: string) => !(isDevelopment(env) && isLoopback(ip));
  return {
    ...invoiceEffects(env, given),
    clock: () => Date.now(),
    keysOf: (invoiceId: string) => keysOf(env, invoiceId),
    background: given.background,
    /** Counts a pick; seconds to wait where there were too many, else 0. A limiter that cannot be asked leaves the page open, as everywhere. */
    waitOfIp: async (ip: string | null): Promise<number> => {
      if (ip === null || !isCounted(ip)) return 0;
      try {
        const limiter = env.RATE_LIMITER.getByName(`pick:${networkOf(ip)}`);
        const { isAllowed, resetSeconds } = await limiter.take(PICKS_A_MINUTE, given.nowMs);
        return isAllowed ? 0 : resetSeconds;
      } catch {
        return 0;
      }
    },
  };
}

export type CheckoutEffects = ReturnType<typeof checkoutEffects>;
