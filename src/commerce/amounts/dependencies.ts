import { sleep } from "../../lib/sleep.ts";
import { openDb } from "../../platform/db/client.ts";
import { databaseWithoutMerchant } from "../../platform/db/databases.ts";
import type { CheckDependencies } from "./check-amounts.ts";

/** Dependencies of an allocator's alarm, which only reads from D1. */
export function checkDependencies(env: Env): CheckDependencies {
  return { db: openDb(databaseWithoutMerchant(env, "AMOUNTS")), sleep, nowMs: Date.now() };
}
