import type { MountedRoute } from "../auth/middleware.ts";
import { clearCookie, setCookie } from "../http/cookies.ts";
import { jsonReply } from "../http/reply.ts";
import { noQuery } from "../http/route.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { ok } from "../lib/result.ts";
import { SECOND_MS } from "../lib/time.ts";
import { sessionReply } from "../sessions/middleware.ts";
import { newToken } from "../sessions/open-session.ts";
import { sentBody, signedInBody, startBody, verifyBody } from "./contract.ts";
import { signInEffects } from "./effects.ts";
import { CODE_LIFETIME_MS } from "./email-code.ts";
import { openRoute } from "./middleware.ts";
import { sendCode } from "./send-code.ts";
import { verifySignIn } from "./verify-sign-in.ts";

const start = openRoute({
  spec: {
    method: "POST",
    path: "/api/v1/auth/email/start",
    operationId: "startEmailSignIn",
    tag: "Sign-in",
    summary: "Mail a code to sign in with",
    description:
      "The answer is the same whether there is an account or not; the first sign-in makes one. The code works for 10 minutes, in the browser that asked: keep the `signin` cookie. 5 mails an hour to one address and 20 in all, per IP address.",
    callers: "ANYBODY",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: false,
    body: startBody,
    query: noQuery,
    answers: [{ status: 202, description: "A code is on its way", schema: sentBody }],
    refusals: ["VALIDATION_FAILED", "STORAGE_UNAVAILABLE", "CONTENTION"],
  },
  effects: signInEffects,
  answer: async (call) => {
    const { email } = call.body;
    const nonce = newToken();
    const old = call.cookie("signin");
    const replacedBoundTo = old === undefined ? undefined : sha256Hex(old);
    const boundTo = sha256Hex(nonce);
    const sent = await sendCode(call.fx, { purpose: "SIGN_IN", email, boundTo, replacedBoundTo, ip: call.ip });
    if (!sent.ok) return sent;
    const cookie = setCookie(call.env, "signin", nonce, CODE_LIFETIME_MS / SECOND_MS);
    return ok({ ...jsonReply(202, { status: "sent" }), cookies: [cookie] });
  },
});

const verify = openRoute({
  spec: {
    method: "POST",
    path: "/api/v1/auth/email/verify",
    operationId: "verifyEmailSignIn",
    tag: "Sign-in",
    summary: "Sign in with the code of the mail",
    description:
      "Takes the `signin` cookie of the start and sets the session's. A code has 5 tries and works once. `pending_2fa`: the session is good for `/api/v1/auth/second-factor/*` only, until the factor is given.",
    callers: "ANYBODY",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: false,
    body: verifyBody,
    query: noQuery,
    answers: [{ status: 200, description: "Signed in", schema: signedInBody }],
    refusals: ["INVALID_CODE", "IDENTITY_TAKEN", "VALIDATION_FAILED", "STORAGE_UNAVAILABLE", "CONTENTION"],
  },
  effects: signInEffects,
  answer: async (call) => {
    const signedIn = await verifySignIn(call.fx, {
      ...call.body,
      nonce: call.cookie("signin"),
      oldToken: call.cookie("session"),
      ip: call.ip,
      userAgent: call.userAgent,
      requestId: call.requestId,
    });
    if (!signedIn.ok) return signedIn;
    return ok(sessionReply(call.env, signedIn.value, { cookies: [clearCookie(call.env, "signin")] }));
  },
});

export const signInRoutes: readonly MountedRoute[] = [start, verify];
