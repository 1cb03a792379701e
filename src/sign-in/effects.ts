// The world as sign-in takes it, built from the environment once per request.
import type { GivenEffects } from "../auth/middleware.ts";
import { isDevelopment } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { isLoopback } from "../lib/ip-network.ts";
import { parseKeyring } from "../lib/keyring.ts";
import { mailerOf } from "../mail/effects.ts";
import type { SendEffects } from "./send-code.ts";

/** For `sendCode` and `useCode`, whoever asks for a code. Throws when the pepper is missing: then no code can be made or checked. */
export function signInEffects(env: Env, given: GivenEffects): SendEffects {
  const pepper = parseKeyring("CODE_PEPPER", env.CODE_PEPPER);
  if (!pepper.ok) throw new Error(pepper.error);
  const { db, nowMs, sleep } = given;
  return {
    db,
    nowMs,
    sleep,
    pepper: pepper.value,
    mailer: mailerOf(env, given),
    newOperationId,
    isCounted: (ip) => !(isDevelopment(env) && isLoopback(ip)),
  };
}
