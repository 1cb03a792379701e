import type { GivenEffects } from "../auth/middleware.ts";
import { waitOfIp } from "../http/rate-check.ts";
import { keysOf } from "../idempotency/middleware.ts";
import { invoiceEffects } from "../invoices/effects.ts";

/** Forms that one address may send in a minute, whatever they buy. */
const FORMS_A_MINUTE = 10;

/** The world as the storefront takes it, built from the environment once per request. */
export function storefrontEffects(env: Env, given: GivenEffects) {
  return {
    ...invoiceEffects(env, given),
    clock: () => Date.now(),
    keysOf: (merchantId: string) => keysOf(env, merchantId),
    background: given.background,
    newToken: () => crypto.randomUUID(),
    /** Counts a form; seconds to wait where there were too many, else 0. */
    waitOfIp: (ip: string | null) =>
      waitOfIp(env, ip, { act: "buy", take: (limiter) => limiter.take(FORMS_A_MINUTE, given.nowMs) }),
  };
}
