import { sha256Hex } from "../../lib/bytes.ts";
import { err, ok } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { setCookie } from "../../platform/http/cookies.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { isMailOffered } from "../../platform/mail/dependencies.ts";
import { sentBody, signedInBody, startBody, verifyBody } from "../email-codes/contract.ts";
import { signInDependencies } from "../email-codes/dependencies.ts";
import { CODE_LIFETIME_MS } from "../email-codes/email-code.ts";
import { sendCode } from "../email-codes/send-code.ts";
import { routesOf } from "../pipeline/routes-of.ts";
import { signedInReply } from "../pipeline/session-reply.ts";
import { newToken } from "../sessions/open-session.ts";
import { verifySignIn } from "./verify-sign-in.ts";

export const signInRoutes = routesOf({ tag: "Sign-in", callers: "ANYBODY", dependencies: signInDependencies })
  .post("/api/v1/auth/email/start", {
    operationId: "startEmailSignIn",
    summary: "Start a sign-in: mail a code",
    description:
      "The response is the same whether or not an account exists; the first sign-in creates one if the deployment's `SIGN_UP` lets everyone in or an invitation waits for the address. The code works for 10 minutes in the browser that requested it: keep the `signin` cookie. Limits per IP network: 5 mails an hour to one address and 20 in total; all networks of an IPv6 /48 together have four times as many. Limit per address: 30 mails a day. A browser that has signed in to the address before (the cookie `known`) has a separate limit of 20 mails an hour.",
    body: startBody,
    answers: [{ status: 202, description: "A code was mailed", schema: sentBody }],
    refusals: ["PROVIDER_NOT_CONFIGURED", "VALIDATION_FAILED", "STORAGE_UNAVAILABLE", "CONTENTION"],
    answer: async (call) => {
      const { email } = call.body;
      if (!isMailOffered(call.env)) return err({ code: "PROVIDER_NOT_CONFIGURED", provider: "mail" });
      const nonce = newToken();
      const old = call.cookie("signin");
      const replacedBoundTo = old === undefined ? undefined : sha256Hex(old);
      const boundTo = sha256Hex(nonce);
      const sent = await sendCode(call.deps, {
        purpose: "SIGN_IN",
        email,
        boundTo,
        replacedBoundTo,
        ip: call.ip,
        knownBrowser: call.cookie("known"),
      });
      if (!sent.ok) return sent;
      const cookie = setCookie(call.env, "signin", nonce, CODE_LIFETIME_MS / SECOND_MS);
      return ok({ ...jsonReply(202, { status: "sent" }), cookies: [cookie] });
    },
  })
  .post("/api/v1/auth/email/verify", {
    operationId: "verifyEmailSignIn",
    summary: "Sign in with a mailed code",
    description:
      "Needs the `signin` cookie from the start of the sign-in, and sets the session cookie. A code works once, and no longer works after 5 wrong attempts. In the state `pending_2fa`, the session can only call `/api/v1/auth/second-factor/*` until a second factor has been given.",
    body: verifyBody,
    answers: [{ status: 200, description: "Signed in", schema: signedInBody }],
    refusals: [
      "INVALID_CODE",
      "SIGN_UP_CLOSED",
      "IDENTITY_TAKEN",
      "VALIDATION_FAILED",
      "STORAGE_UNAVAILABLE",
      "CONTENTION",
    ],
    answer: async (call) => {
      const signedIn = await verifySignIn(call.deps, {
        ...call.body,
        nonce: call.cookie("signin"),
        oldToken: call.cookie("session"),
        ip: call.ip,
        userAgent: call.userAgent,
        requestId: call.requestId,
      });
      return signedIn.ok ? ok(signedInReply(call, signedIn.value)) : signedIn;
    },
  });
