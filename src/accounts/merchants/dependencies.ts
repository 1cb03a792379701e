import { type ChainSettings, parseChainSources } from "../../chains/sources/chain-sources.ts";
import { newOperationId } from "../../lib/ids.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { configuredProviders } from "../security-policies/providers.ts";
import type { SignInProvider } from "../security-policies/security-policy.ts";
import type { MerchantDependencies } from "./change-merchant.ts";
import type { SettingsContext } from "./settings-body.ts";

/** Dependencies of merchant operations, built from the environment once per request. */
export function merchantDependencies(
  env: Env,
  given: GivenDependencies,
): MerchantDependencies &
  SettingsContext & { readonly mailer: Mailer; readonly configured: ReadonlySet<SignInProvider> } {
  const { db, nowMs, sleep } = given;
  const configured = configuredProviders(env.SIGN_IN_PROVIDERS);
  const hasSecondSources = hasSecondEverywhere(env);
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    mailer: mailerOf(env, given),
    publicUrl: publicUrl(env),
    configured,
    hasSecondSources,
  };
}

function hasSecondEverywhere(settings: ChainSettings): boolean {
  const sources = parseChainSources(settings);
  const lists = sources.ok ? [...sources.value.values()] : [];
  return lists.length > 0 && lists.every(({ length }) => length > 1);
}
