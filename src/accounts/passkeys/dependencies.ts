// Dependencies of passkeys, built from the environment once per request.

import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import type { PasskeyDependencies } from "./begin-passkey.ts";

export function passkeyDependencies(
  env: Env,
  { db, nowMs, sleep }: Pick<GivenDependencies, "db" | "nowMs" | "sleep">,
): PasskeyDependencies {
  return { db, nowMs, sleep, newOperationId, publicUrl: publicUrl(env) };
}
