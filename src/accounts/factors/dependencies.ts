// Dependencies of second factors and step-up: emailed codes, authenticator apps and passkeys together.
import type { GivenDependencies } from "../../platform/http/context.ts";
import { signInDependencies } from "../email-codes/dependencies.ts";
import { passkeyDependencies } from "../passkeys/dependencies.ts";
import { totpDependencies } from "../totp/dependencies.ts";
import type { FactorDependencies } from "./prove-factor.ts";

export function factorDependencies(env: Env, given: GivenDependencies): FactorDependencies {
  return { ...signInDependencies(env, given), ...totpDependencies(env, given), ...passkeyDependencies(env, given) };
}
