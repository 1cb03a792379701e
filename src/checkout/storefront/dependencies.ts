import { invoiceDependencies } from "../../commerce/invoices/dependencies.ts";
import { newOperationId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { challengeOf } from "../../platform/challenge/dependencies.ts";
import { hostnameOf } from "../../platform/challenge/turnstile.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { waitOfIp } from "../../platform/http/rate-check.ts";
import { DEFAULT_LANGUAGE } from "../../platform/texts/languages.ts";
import type { FormCall } from "../pay/pages-of.tsx";
import type { BuyDependencies } from "./buy-product.ts";
import { orderOf } from "./contract.ts";

/** Dependencies of the storefront at the edge, built from the environment once per request. */
export function storefrontDependencies(env: Env, { db, nowMs, sleep }: GivenDependencies) {
  return {
    db,
    sleep,
    challenge: challengeOf(env),
    /** The host on which the page's widget is shown. */
    hostname: hostnameOf(publicUrl(env)),
    newToken: () => crypto.randomUUID(),
    /** Counts a form. Returns the seconds to wait if there were too many, otherwise 0. */
    waitOfIp: (ip: string | null) =>
      waitOfIp(env, ip, {
        act: "buy",
        take: (limiter, times) => limiter.take(LIMITS.productFormsPerIpAndMinute * times, nowMs),
      }),
  };
}

/** Dependencies of a purchase, in the merchant's object. */
export function buyDependencies(call: FormCall<unknown, unknown, unknown>): BuyDependencies {
  const { db, sleep, background, requestId, merchantContext } = call;
  return {
    ...invoiceDependencies(call.env, call),
    // The edge has parsed the amount in the payer's language, and passes it on in the default language.
    orderOf: (product, form) => orderOf(product, form, DEFAULT_LANGUAGE),
    // As with a payer's choice of a payment method, the merchant's audit log names neither the buyer nor their IP address.
    trail: { ...SYSTEM_TRAIL, requestId },
    once: { db, sleep, background, newOperationId, keys: merchantContext.keys, nowMs: () => Date.now() },
  };
}
