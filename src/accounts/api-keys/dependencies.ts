import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import type { KeyDependencies } from "./change-api-key.ts";

/** Dependencies of key operations, built once per request. */
export function keyDependencies(_env: Env, { db, nowMs, sleep }: GivenDependencies): KeyDependencies {
  const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
  return { db, nowMs, sleep, newOperationId, randomBytes };
}
