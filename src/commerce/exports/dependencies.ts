import { LIMITS } from "../../lib/limits.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { waitOfMerchant } from "../../platform/http/rate-check.ts";
import type { ExportDependencies } from "./export-rows.ts";

/** Dependencies of exports, built from the environment once per request. */
export function exportDependencies(env: Env, { db, sleep }: GivenDependencies): ExportDependencies {
  return {
    db,
    sleep,
    clock: Date.now,
    waitOf: waitOfMerchant(env, "exports", (limiter) => limiter.take(LIMITS.exportsPerMerchantAndMinute, Date.now())),
  };
}
