// Dependencies of operations on a user's own account, built from the environment once per request.

import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import type { RevokeDependencies } from "./revoke-session.ts";

export function accountDependencies(_env: Env, { db, nowMs, sleep }: GivenDependencies): RevokeDependencies {
  return { db, nowMs, sleep, newOperationId };
}
