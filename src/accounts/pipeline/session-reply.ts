import { SECOND_MS } from "../../lib/time.ts";
import { clearCookie, setCookie } from "../../platform/http/cookies.ts";
import { jsonReply, type Reply } from "../../platform/http/reply.ts";
import { knownBrowserCookies } from "../email-codes/dependencies.ts";
import type { SignedIn } from "../sessions/open-session.ts";
import { SESSION_LIFETIME_MS, secondFactorsOf, stateText } from "../sessions/session.ts";
import type { OpenCall } from "./call.ts";

/** The response to every sign-in, second factor and step-up: the session's cookie, its user, and the second factors that it still needs. */
export function sessionReply(env: Env, { token, state, user }: SignedIn, cookies: readonly string[] = []): Reply {
  const body = {
    state: stateText(state),
    factors: state === "ACTIVE" ? [] : secondFactorsOf(user),
    user: { id: user.id, email: user.email, name: user.name },
  };
  const cookie = setCookie(env, "session", token, SESSION_LIFETIME_MS / SECOND_MS);
  return { ...jsonReply(200, body), cookies: [cookie, ...cookies] };
}

/** Like `sessionReply`, for a sign-in: also deletes the cookie from the start of the sign-in, and sets the cookie of a known browser. */
export function signedInReply(
  { env, cookie, nowMs }: Pick<OpenCall<unknown, unknown>, "env" | "cookie" | "nowMs">,
  opened: SignedIn,
): Reply {
  const { emailKey } = opened.user;
  const known = knownBrowserCookies(env, { cookie: cookie("known"), emailKey, nowMs });
  return sessionReply(env, opened, [clearCookie(env, "signin"), ...known]);
}
