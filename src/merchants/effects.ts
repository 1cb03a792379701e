import type { GivenEffects } from "../auth/middleware.ts";
import { parseChainSources } from "../chains/chain-sources.ts";
import { publicUrl } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { configuredProviders } from "../identities/providers.ts";
import type { SignInProvider } from "../teams/security-policy.ts";
import type { MerchantEffects } from "./change-merchant.ts";
import type { SettingsContext } from "./settings-body.ts";

/** The world as merchant operations take it, built from the environment once per request. */
export function merchantEffects(
  env: Env,
  { db, nowMs, sleep }: GivenEffects,
): MerchantEffects & SettingsContext & { readonly configured: ReadonlySet<SignInProvider> } {
  const configured = configuredProviders(env.SIGN_IN_PROVIDERS);
  const hasSecondSources = hasSecondEverywhere(env.CHAIN_SOURCES);
  return { db, nowMs, sleep, newOperationId, publicUrl: publicUrl(env), configured, hasSecondSources };
}

function hasSecondEverywhere(text: string): boolean {
  const sources = parseChainSources(text);
  const lists = sources.ok ? [...sources.value.values()] : [];
  return lists.length > 0 && lists.every(({ length }) => length > 1);
}
