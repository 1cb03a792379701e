// Dependencies of sign-in, built from the environment once per request.

import { newOperationId } from "../../lib/ids.ts";
import { isLoopback } from "../../lib/ip-network.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { setCookie } from "../../platform/http/cookies.ts";
import { isDevelopment } from "../../platform/http/deployment.ts";
import { keyringOf } from "../../platform/keys/keyrings.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import { KNOWN_BROWSER_MS, knownBrowserValue } from "./known-browser.ts";
import { signUpOf } from "./new-accounts.ts";
import type { SendDependencies } from "./send-code.ts";

/** Dependencies of `sendCode` and `useCode`, for every route that uses emailed codes. Throws if the pepper, which codes need, is missing. */
export function signInDependencies(env: Env, given: GivenDependencies): SendDependencies {
  const pepper = keyringOf(env, "CODE_PEPPER");
  if (!pepper.ok) throw new Error(pepper.error);
  const { db, nowMs, sleep } = given;
  return {
    db,
    nowMs,
    sleep,
    pepper: pepper.value,
    mailer: mailerOf(env, given),
    newOperationId,
    isSignUpOpen: signUpOf(env.SIGN_UP) === "open",
    isCounted: (ip) => !(isDevelopment(env) && (ip === null || isLoopback(ip))),
  };
}

/** The cookie for a browser that has just signed in to an address. Empty if the pepper is missing; the sign-in still succeeds. */
export function knownBrowserCookies(
  env: Env,
  of: { readonly cookie: string | undefined; readonly emailKey: string; readonly nowMs: number },
): readonly string[] {
  const pepper = keyringOf(env, "CODE_PEPPER");
  if (!pepper.ok) return [];
  return [setCookie(env, "known", knownBrowserValue(pepper.value, of), KNOWN_BROWSER_MS / SECOND_MS)];
}
