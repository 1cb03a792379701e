import { SECOND_MS } from "../../lib/time.ts";
import { setCookie } from "../../platform/http/cookies.ts";
import { jsonReply, type Reply } from "../../platform/http/reply.ts";
import { SESSION_LIFETIME_MS, type SessionState, secondFactorsOf, stateText } from "../sessions/session.ts";
import type { User } from "../users/user.ts";

/** What every sign-in and second factor answers: the session's cookie, whose it is, and what it still owes. */
export function sessionReply(
  env: Env,
  of: { readonly token: string; readonly state: SessionState; readonly user: User },
  more: { readonly cookies?: readonly string[] } = {},
): Reply {
  const { user, state } = of;
  const body = {
    state: stateText(state),
    factors: state === "ACTIVE" ? [] : secondFactorsOf(user),
    user: { id: user.id, email: user.email, name: user.name },
  };
  const cookie = setCookie(env, "session", of.token, SESSION_LIFETIME_MS / SECOND_MS);
  return { ...jsonReply(200, body), cookies: [cookie, ...(more.cookies ?? [])] };
}
