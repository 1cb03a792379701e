// Dependencies of authenticator apps and backup codes, built from the environment once per request.

import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import type { TotpDependencies } from "./enrol-totp.ts";

/** Throws if CODE_PEPPER or SECRETS_AES_KEY is invalid, or is missing and cannot be derived from MASTER_KEY. */
export function totpDependencies(env: Env, { db, nowMs, sleep }: GivenDependencies): TotpDependencies {
  const pepper = keyringOf(env, "CODE_PEPPER");
  if (!pepper.ok) throw new Error(pepper.error);
  const sealKeys = keyringOf(env, "SECRETS_AES_KEY");
  if (!sealKeys.ok) throw new Error(sealKeys.error);
  return { db, nowMs, sleep, newOperationId, pepper: pepper.value, sealKeys: sealKeys.value };
}
