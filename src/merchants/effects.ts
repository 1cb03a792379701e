import type { GivenEffects } from "../auth/middleware.ts";
import { publicUrl } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { configuredProviders } from "../identities/providers.ts";
import type { SignInProvider } from "../teams/security-policy.ts";
import type { MerchantEffects } from "./change-merchant.ts";

/** The world as merchant operations take it, built from the environment once per request. */
export function merchantEffects(
  env: Env,
  { db, nowMs, sleep }: GivenEffects,
): MerchantEffects & { readonly publicUrl: string; readonly configured: ReadonlySet<SignInProvider> } {
  const configured = configuredProviders(env.SIGN_IN_PROVIDERS);
  return { db, nowMs, sleep, newOperationId, publicUrl: publicUrl(env), configured };
}
