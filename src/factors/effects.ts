// The world as second factors and step-up take it: mailed codes, authenticator apps and passkeys together.
import type { GivenEffects } from "../auth/middleware.ts";
import { passkeyEffects } from "../passkeys/effects.ts";
import { signInEffects } from "../sign-in/effects.ts";
import { totpEffects } from "../totp/effects.ts";
import type { FactorEffects } from "./prove-factor.ts";

export function factorEffects(env: Env, given: GivenEffects): FactorEffects {
  return { ...signInEffects(env, given), ...totpEffects(env, given), ...passkeyEffects(env, given) };
}
