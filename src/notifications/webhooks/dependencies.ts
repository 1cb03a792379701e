// Dependencies of endpoint operations, and the rules for endpoint URLs.

import { newOperationId } from "../../lib/ids.ts";
import { seal } from "../../lib/seal.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { isDevelopment, publicUrl } from "../../platform/http/deployment.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import type { WebhookDependencies } from "./change-webhook.ts";
import { type EndpointRules, rulesOf } from "./endpoint-url.ts";

/** Dependencies of endpoint operations, built once per request. */
export function webhookDependencies(env: Env, { db, nowMs, sleep }: GivenDependencies): WebhookDependencies {
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    urlRules: endpointRules(env),
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    seal: async (context, text) => {
      const keys = keyringOf(env, "SECRETS_AES_KEY");
      if (!keys.ok) throw new Error(keys.error);
      return seal(keys.value, context, text);
    },
  };
}

/** The rules for endpoint URLs of this deployment, checked at registration and before every round of deliveries. */
export function endpointRules(env: Pick<Env, "ENVIRONMENT" | "WEBHOOK_LOOPBACK" | "PUBLIC_URL">): EndpointRules {
  return rulesOf(env, { isDevelopment: isDevelopment(env), origin: publicUrl(env) });
}
