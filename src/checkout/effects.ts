// The world as the checkout takes it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { waitOfIp } from "../http/rate-check.ts";
import { keysOf } from "../idempotency/middleware.ts";
import { invoiceEffects } from "../invoices/effects.ts";

/** Ways to pay that one address may pick in a minute, on whatever invoices. */
const PICKS_A_MINUTE = 30;

export function checkoutEffects(env: Env, given: GivenEffects) {
  return {
    ...invoiceEffects(env, given),
    clock: () => Date.now(),
    keysOf: (invoiceId: string) => keysOf(env, invoiceId),
    background: given.background,
    /** Counts a pick; seconds to wait where there were too many, else 0. */
    waitOfIp: (ip: string | null) =>
      waitOfIp(env, ip, { act: "pick", take: (limiter) => limiter.take(PICKS_A_MINUTE, given.nowMs) }),
  };
}

export type CheckoutEffects = ReturnType<typeof checkoutEffects>;
