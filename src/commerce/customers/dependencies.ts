import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import type { CustomerDependencies } from "./change-customer.ts";

/** Dependencies of customer operations, built once per request. */
export function customerDependencies(_env: Env, { db, nowMs, sleep }: GivenDependencies): CustomerDependencies {
  return { db, nowMs, sleep, newOperationId };
}
