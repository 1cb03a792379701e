// The world as authenticator apps and backup codes take it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { parseKeyring } from "../lib/keyring.ts";
import type { TotpEffects } from "./enrol-totp.ts";

/** Throws when a secret of the deployment is missing: then nothing can be sealed or checked. */
export function totpEffects(env: Env, { db, nowMs, sleep }: GivenEffects): TotpEffects {
  const pepper = parseKeyring("CODE_PEPPER", env.CODE_PEPPER);
  if (!pepper.ok) throw new Error(pepper.error);
  const sealKeys = parseKeyring("SECRETS_AES_KEY", env.SECRETS_AES_KEY);
  if (!sealKeys.ok) throw new Error(sealKeys.error);
  return { db, nowMs, sleep, newOperationId, pepper: pepper.value, sealKeys: sealKeys.value };
}
