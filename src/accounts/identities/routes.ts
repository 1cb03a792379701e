import { err, ok } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { clearCookie, setCookie } from "../../platform/http/cookies.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { emptyReply, emptyReplyTo, jsonReply, type Reply } from "../../platform/http/reply.ts";
import { signUpOf } from "../email-codes/new-accounts.ts";
import type { OpenCall } from "../pipeline/call.ts";
import { type MountedRoute, routesOf } from "../pipeline/routes-of.ts";
import { signedInReply } from "../pipeline/session-reply.ts";
import { configuredProviders, parseProvider } from "../security-policies/providers.ts";
import { ATTEMPT_LIFETIME_MS, proofPath } from "./attempt.ts";
import { beginAttempt } from "./begin-attempt.ts";
import { beginQuery, callbackBody, callbackQuery, identityListBody, linkStartBody, methodsBody } from "./contract.ts";
import { identityDependencies, linkDependencies } from "./dependencies.ts";
import { type Finished, finishAttempt } from "./finish-attempt.ts";
import { identityListOf, identityReads } from "./list-identities.ts";
import { unlinkIdentity } from "./unlink-identity.ts";

const AUTH = "/api/v1/auth/:provider";
const MINE = "/api/v1/me/identities";

const signIn = routesOf({ tag: "Sign-in", callers: "ANYBODY", dependencies: identityDependencies })
  .get("/api/v1/auth/methods", {
    operationId: "listSignInMethods",
    summary: "List the ways to sign in that depend on the deployment",
    description: "Mailed codes and passkeys are always offered.",
    answers: [{ status: 200, description: "The providers", schema: methodsBody }],
    answer: async ({ env }) => {
      const providers = [...configuredProviders(env.SIGN_IN_PROVIDERS)];
      return ok(jsonReply(200, { providers, isSignUpOpen: signUpOf(env.SIGN_UP) === "open" }));
    },
  })
  .get(`${AUTH}/start`, {
    operationId: "startProviderSignIn",
    summary: "Sign in with Google or GitHub",
    description: "Open it in the browser. The attempt works once, within 10 minutes, in the browser that began it.",
    query: beginQuery,
    answers: [{ status: 302, description: "Redirects to the provider" }],
    refusals: ["PROVIDER_NOT_CONFIGURED", "PROVIDER_UNAVAILABLE", "VALIDATION_FAILED", "STORAGE_UNAVAILABLE"],
    answer: async (call) => {
      const begun = await beginAttempt(call.deps, {
        provider: call.params.provider,
        browserToken: call.cookie("signin"),
        returnTo: call.query.returnTo ?? "/sign-in",
        linkTo: null,
      });
      if (!begun.ok) return begun;
      const { url, browserToken } = begun.value;
      return ok({ ...emptyReply(302), headers: { location: url }, cookies: [browserCookie(call.env, browserToken)] });
    },
  })
  .get(`${AUTH}/callback`, {
    operationId: "finishProviderSignIn",
    summary: "The redirect URI to which the provider sends the browser back",
    description:
      "A linked identity signs its user in; an unknown one creates an account if `SIGN_UP` lets everyone in. If its verified email already belongs to an account, or sign-up is closed, a code is mailed to that address; sending the code to `/api/v1/auth/email/verify` links the identity and signs the user in. A user with a passkey or an authenticator app is only signed in, and can link the identity in their session. With `Accept: application/json`, the response reports what was done instead of redirecting.",
    query: callbackQuery,
    answers: [
      { status: 200, description: "Signed in, linked, or a mailed code is needed", schema: callbackBody },
      { status: 303, description: "The same for a browser: redirects to `returnTo`" },
    ],
    refusals: [
      "SIGN_IN_REFUSED",
      "IDENTITY_TAKEN",
      "PROVIDER_NOT_CONFIGURED",
      "PROVIDER_UNAVAILABLE",
      "VALIDATION_FAILED",
      "STORAGE_UNAVAILABLE",
      "CONTENTION",
    ],
    answer: async (call) => {
      const browserToken = call.cookie("signin");
      const { ip, userAgent, requestId } = call;
      const finished = await finishAttempt(call.deps, {
        ip,
        userAgent,
        requestId,
        browserToken,
        provider: call.params.provider,
        state: call.query.state,
        code: call.query.code,
        iss: call.query.iss,
        error: call.query.error,
        sessionToken: call.cookie("session"),
        knownBrowser: call.cookie("known"),
      });
      if (!finished.ok) return finished;
      const reply = finishedReply(call, finished.value, browserToken ?? "");
      if (call.accept?.includes("application/json")) return ok(reply.json);
      const location = new URL(reply.path, publicUrl(call.env)).href;
      return ok({ ...emptyReply(303), headers: { location }, cookies: reply.json.cookies ?? [] });
    },
  });

const list = routesOf({ tag: "My account", callers: "USER", dependencies: linkDependencies }).get(MINE, {
  operationId: "listIdentities",
  summary: "List the Google and GitHub accounts that are linked to yours",
  answers: [{ status: 200, description: "All linked accounts, oldest first", schema: identityListBody }],
  reads: ({ db, tokenHash }) => identityReads(db, tokenHash),
  answer: async (call) => ok(jsonReply(200, identityListOf(call.read[0]))),
});

const link = routesOf({ tag: "My account", callers: "USER", dependencies: identityDependencies }).post(
  `${MINE}/:provider`,
  {
    operationId: "startIdentityLink",
    summary: "Start to link a Google or GitHub account",
    description:
      "The provider sends the browser back to the callback, which links the account if this session is still live in that browser.",
    needsStepUp: true,
    query: beginQuery,
    answers: [{ status: 200, description: "The page that the browser must open", schema: linkStartBody }],
    refusals: ["PROVIDER_NOT_CONFIGURED", "PROVIDER_UNAVAILABLE"],
    answer: async (call) => {
      const { user, session } = call.principal;
      const begun = await beginAttempt(call.deps, {
        provider: call.params.provider,
        browserToken: undefined,
        returnTo: call.query.returnTo ?? "/sign-in",
        linkTo: { userId: user.id, sessionId: session.id },
      });
      if (!begun.ok) return begun;
      const { url, browserToken } = begun.value;
      return ok({ ...jsonReply(200, { url }), cookies: [browserCookie(call.env, browserToken)] });
    },
  },
);

const unlink = routesOf({ tag: "My account", callers: "USER", dependencies: linkDependencies }).delete(
  `${MINE}/:provider/:subject`,
  {
    operationId: "unlinkIdentity",
    summary: "Unlink a Google or GitHub account",
    description:
      "You can still sign in with a mailed code. If a team requires the linked account, you lose access to that team's merchant.",
    needsStepUp: true,
    answers: [{ status: 204, description: "Unlinked" }],
    refusals: ["IDENTITY_NOT_FOUND"],
    answer: async (call) => {
      const provider = parseProvider(call.params.provider);
      if (provider === undefined) return err({ code: "IDENTITY_NOT_FOUND" });
      return emptyReplyTo(
        await unlinkIdentity(call.deps, {
          identity: { provider, subject: call.params.subject ?? "" },
          userId: call.principal.user.id,
          trail: call.trail,
        }),
      );
    },
  },
);

export const identityRoutes: readonly MountedRoute[] = [...signIn, ...list, ...link, ...unlink];

/** The JSON response, and the path to which a browser is redirected instead. */
function finishedReply(
  call: Pick<OpenCall<unknown, unknown>, "env" | "cookie" | "nowMs">,
  finished: Finished,
  browserToken: string,
): { readonly json: Reply; readonly path: string } {
  const { returnTo } = finished;
  switch (finished.kind) {
    case "SIGNED_IN":
      return { json: signedInReply(call, finished), path: returnTo };
    case "LINKED": {
      const { provider, subject, email } = finished.identity;
      const body = { state: "linked", identity: { provider, subject, email } };
      return { json: { ...jsonReply(200, body), cookies: [clearCookie(call.env, "signin")] }, path: returnTo };
    }
    case "PROOF_REQUIRED": {
      const { email } = finished;
      const kept = [browserCookie(call.env, browserToken)];
      const json = { ...jsonReply(200, { state: "email_proof_required", email }), cookies: kept };
      return { json, path: proofPath(returnTo, email) };
    }
  }
}

function browserCookie(env: Env, token: string): string {
  return setCookie(env, "signin", token, ATTEMPT_LIFETIME_MS / SECOND_MS);
}
