// Dependencies of sign-in with an external provider, built from the environment once per request.

import { newOperationId } from "../../lib/ids.ts";
import { log } from "../../lib/log.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { isDevelopment, publicUrl } from "../../platform/http/deployment.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import { signInDependencies } from "../email-codes/dependencies.ts";
import { signUpOf } from "../email-codes/new-accounts.ts";
import { sendCode } from "../email-codes/send-code.ts";
import { type Providers, parseProviders } from "../security-policies/providers.ts";
import type { SignInProvider } from "../security-policies/security-policy.ts";
import type { AttemptDependencies } from "./begin-attempt.ts";
import { githubClient } from "./github-client.ts";
import { googleClient } from "./google-client.ts";
import type { LinkDependencies } from "./link-identity.ts";
import type { SignInDependencies } from "./open-identity-session.ts";
import type { ProviderClient } from "./provider-client.ts";

/** Dependencies of listing and unlinking, which need no provider and no key. */
export function linkDependencies(_env: Env, { db, nowMs, sleep }: GivenDependencies): LinkDependencies {
  return { db, nowMs, sleep, newOperationId };
}

export function identityDependencies(env: Env, given: GivenDependencies): AttemptDependencies & SignInDependencies {
  const keys = keyringOf(env, "SECRETS_AES_KEY");
  if (!keys.ok) throw new Error(keys.error);
  const providers = parseProviders(env.SIGN_IN_PROVIDERS);
  if (!providers.ok) log("error", { problem: providers.error });
  return {
    ...linkDependencies(env, given),
    keys: keys.value,
    isSignUpOpen: signUpOf(env.SIGN_UP) === "open",
    client: (provider) => clientOf(env, providers.ok ? providers.value : {}, provider),
    sendCode: (of) => sendCode(signInDependencies(env, given), of),
  };
}

function clientOf(env: Env, providers: Providers, provider: SignInProvider): ProviderClient | undefined {
  const deps = {
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    redirectUri: `${publicUrl(env)}/api/v1/auth/${provider}/callback`,
    isLoopbackAllowed: isDevelopment(env),
  };
  switch (provider) {
    case "google":
      return providers.google === undefined ? undefined : googleClient(deps, providers.google);
    case "github":
      return providers.github === undefined ? undefined : githubClient(deps, providers.github);
  }
}
