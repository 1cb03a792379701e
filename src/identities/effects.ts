// The world as signing in elsewhere takes it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { isDevelopment, publicUrl } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { parseKeyring } from "../lib/keyring.ts";
import { signInEffects } from "../sign-in/effects.ts";
import { sendCode } from "../sign-in/send-code.ts";
import type { SignInProvider } from "../teams/security-policy.ts";
import type { AttemptEffects } from "./begin-attempt.ts";
import { githubClient } from "./github-client.ts";
import { googleClient } from "./google-client.ts";
import type { LinkEffects } from "./link-identity.ts";
import type { SignInEffects } from "./open-identity-session.ts";
import type { ProviderClient } from "./provider-client.ts";
import { type Providers, parseProviders } from "./providers.ts";

/** What listing and unlinking need: no provider, no key. */
export function linkEffects(_env: Env, { db, nowMs, sleep }: GivenEffects): LinkEffects {
  return { db, nowMs, sleep, newOperationId };
}

export function identityEffects(env: Env, given: GivenEffects): AttemptEffects & SignInEffects {
  const keys = parseKeyring("SECRETS_AES_KEY", env.SECRETS_AES_KEY);
  if (!keys.ok) throw new Error(keys.error);
  const providers = parseProviders(env.SIGN_IN_PROVIDERS);
  if (!providers.ok) console.error(JSON.stringify({ level: "error", problem: providers.error }));
  return {
    ...linkEffects(env, given),
    keys: keys.value,
    client: (provider) => clientOf(env, providers.ok ? providers.value : {}, provider),
    sendCode: (of) => sendCode(signInEffects(env, given), of),
  };
}

function clientOf(env: Env, providers: Providers, provider: SignInProvider): ProviderClient | undefined {
  const fx = {
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    redirectUri: `${publicUrl(env)}/api/v1/auth/${provider}/callback`,
    isLoopbackAllowed: isDevelopment(env),
  };
  switch (provider) {
    case "google":
      return providers.google === undefined ? undefined : googleClient(fx, providers.google);
    case "github":
      return providers.github === undefined ? undefined : githubClient(fx, providers.github);
  }
}
