// Dependencies of authenticator apps and backup codes, built from the environment once per request.

import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import type { TotpDependencies } from "./enrol-totp.ts";

/** Throws if a secret of the deployment is missing, which encrypting and checking need. */
export function totpDependencies(env: Env, { db, nowMs, sleep }: GivenDependencies): TotpDependencies {
  const pepper = keyringOf(env, "CODE_PEPPER");
  if (!pepper.ok) throw new Error(pepper.error);
  const sealKeys = keyringOf(env, "SECRETS_AES_KEY");
  if (!sealKeys.ok) throw new Error(sealKeys.error);
  return { db, nowMs, sleep, newOperationId, pepper: pepper.value, sealKeys: sealKeys.value };
}
