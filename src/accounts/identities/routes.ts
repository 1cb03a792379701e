import { err, ok } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { clearCookie, setCookie } from "../../platform/http/cookies.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { emptyReply, jsonReply, type Reply } from "../../platform/http/reply.ts";
import type { OpenCall } from "../pipeline/call.ts";
import { type MountedRoute, routesOf } from "../pipeline/routes-of.ts";
import { signedInReply } from "../pipeline/session-reply.ts";
import { ATTEMPT_LIFETIME_MS, proofPath } from "./attempt.ts";
import { beginAttempt } from "./begin-attempt.ts";
import { beginQuery, callbackBody, callbackQuery, identityListBody, linkStartBody } from "./contract.ts";
import { identityDependencies, linkDependencies } from "./dependencies.ts";
import { type Finished, finishAttempt } from "./finish-attempt.ts";
import { identityListOf, identityReads } from "./list-identities.ts";
import { parseProvider } from "./providers.ts";
import { unlinkIdentity } from "./unlink-identity.ts";

const AUTH = "/api/v1/auth/:provider";
const MINE = "/api/v1/me/identities";

const signIn = routesOf({ tag: "Sign-in", callers: "ANYBODY", dependencies: identityDependencies })
  .get(`${AUTH}/start`, {
    operationId: "startProviderSignIn",
    summary: "Sign in with Google or GitHub",
    description: "For a browser to go to. The attempt works for 10 minutes, once, in the browser that began it.",
    query: beginQuery,
    answers: [{ status: 302, description: "To the provider" }],
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
    summary: "Where the provider sends the browser back to",
    description:
      "A known account elsewhere signs its person in, a new one makes an account. Where its verified email is an account's already, a code goes to that mailbox, and `/api/v1/auth/email/verify` with it links and signs in; whoever has a passkey or an authenticator app is signed in and links in their session. With `Accept: application/json` it answers what it did instead of redirecting.",
    query: callbackQuery,
    answers: [
      { status: 200, description: "Signed in, linked, or the mailbox is to be proved", schema: callbackBody },
      { status: 303, description: "The same, for a browser: to `returnTo`" },
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
        ...{ ip, userAgent, requestId, browserToken },
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

const list = routesOf({ tag: "My account", callers: "PERSON", dependencies: linkDependencies }).get(MINE, {
  operationId: "listIdentities",
  summary: "List the accounts elsewhere that are linked to mine",
  answers: [{ status: 200, description: "All of them, oldest first", schema: identityListBody }],
  reads: ({ db, tokenHash }) => identityReads(db, tokenHash),
  answer: async (call) => ok(jsonReply(200, identityListOf(call.read[0]))),
});

const link = routesOf({ tag: "My account", callers: "PERSON", dependencies: identityDependencies }).post(
  `${MINE}/:provider`,
  {
    operationId: "startIdentityLink",
    summary: "Begin to link a Google or GitHub account",
    description:
      "The provider sends the browser back to the callback, which links when this session is still live there.",
    needsStepUp: true,
    query: beginQuery,
    answers: [{ status: 200, description: "Where to send the browser", schema: linkStartBody }],
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

const unlink = routesOf({ tag: "My account", callers: "PERSON", dependencies: linkDependencies }).delete(
  `${MINE}/:provider/:subject`,
  {
    operationId: "unlinkIdentity",
    summary: "Unlink an account elsewhere",
    description:
      "A code by mail signs in as before. Where a team demands the linked account, its members are locked out of it.",
    needsStepUp: true,
    answers: [{ status: 204, description: "Unlinked" }],
    refusals: ["IDENTITY_NOT_FOUND"],
    answer: async (call) => {
      const provider = parseProvider(call.params.provider);
      if (provider === undefined) return err({ code: "IDENTITY_NOT_FOUND" });
      const unlinked = await unlinkIdentity(call.deps, {
        identity: { provider, subject: call.params.subject ?? "" },
        userId: call.principal.user.id,
        trail: call.trail,
      });
      return unlinked.ok ? ok(emptyReply()) : unlinked;
    },
  },
);

export const identityRoutes: readonly MountedRoute[] = [...signIn, ...list, ...link, ...unlink];

/** The answer as JSON, and where a browser goes instead. */
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
