import type { MountedRoute } from "../auth/middleware.ts";
import { clearCookie, setCookie } from "../http/cookies.ts";
import { publicUrl } from "../http/deployment.ts";
import { emptyReply, jsonReply, type Reply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { err, ok } from "../lib/result.ts";
import { SECOND_MS } from "../lib/time.ts";
import { personRoute, sessionReply } from "../sessions/middleware.ts";
import { openRoute } from "../sign-in/middleware.ts";
import { ATTEMPT_LIFETIME_MS, proofPath } from "./attempt.ts";
import { beginAttempt } from "./begin-attempt.ts";
import { beginQuery, callbackBody, callbackQuery, identityListBody, linkStartBody } from "./contract.ts";
import { identityEffects, linkEffects } from "./effects.ts";
import { type Finished, finishAttempt } from "./finish-attempt.ts";
import { identityListOf, identityReads } from "./list-identities.ts";
import { parseProvider } from "./providers.ts";
import { unlinkIdentity } from "./unlink-identity.ts";

const AUTH = "/api/v1/auth/:provider";
const MINE = "/api/v1/me/identities";

const begin = openRoute({
  spec: {
    method: "GET",
    path: `${AUTH}/start`,
    operationId: "startProviderSignIn",
    tag: "Sign-in",
    summary: "Sign in with Google or GitHub",
    description: "For a browser to go to. The attempt works for 10 minutes, once, in the browser that began it.",
    callers: "ANYBODY",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: beginQuery,
    answers: [{ status: 302, description: "To the provider" }],
    refusals: ["PROVIDER_NOT_CONFIGURED", "PROVIDER_UNAVAILABLE", "VALIDATION_FAILED", "STORAGE_UNAVAILABLE"],
  },
  effects: identityEffects,
  answer: async (call) => {
    const begun = await beginAttempt(call.fx, {
      provider: call.params.provider,
      browserToken: call.cookie("signin"),
      returnTo: call.query.returnTo ?? "/sign-in",
      linkTo: null,
    });
    if (!begun.ok) return begun;
    const { url, browserToken } = begun.value;
    return ok({ ...emptyReply(302), headers: { location: url }, cookies: [browserCookie(call.env, browserToken)] });
  },
});

const callback = openRoute({
  spec: {
    method: "GET",
    path: `${AUTH}/callback`,
    operationId: "finishProviderSignIn",
    tag: "Sign-in",
    summary: "Where the provider sends the browser back to",
    description:
      "A known account elsewhere signs its person in, a new one makes an account. Where its verified email is an account's already, a code goes to that mailbox, and `/api/v1/auth/email/verify` with it links and signs in; whoever has a passkey or an authenticator app is signed in and links in their session. With `Accept: application/json` it answers what it did instead of redirecting.",
    callers: "ANYBODY",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
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
  },
  effects: identityEffects,
  answer: async (call) => {
    const browserToken = call.cookie("signin");
    const { ip, userAgent, requestId } = call;
    const finished = await finishAttempt(call.fx, {
      ...{ ip, userAgent, requestId, browserToken },
      provider: call.params.provider,
      state: call.query.state,
      code: call.query.code,
      iss: call.query.iss,
      error: call.query.error,
      sessionToken: call.cookie("session"),
    });
    if (!finished.ok) return finished;
    const reply = finishedReply(call.env, finished.value, browserToken ?? "");
    if (call.accept?.includes("application/json")) return ok(reply.json);
    const location = new URL(reply.path, publicUrl(call.env)).href;
    return ok({ ...emptyReply(303), headers: { location }, cookies: reply.json.cookies ?? [] });
  },
});

/** The answer as JSON, and where a browser goes instead. */
function finishedReply(
  env: Env,
  finished: Finished,
  browserToken: string,
): { readonly json: Reply; readonly path: string } {
  const { returnTo } = finished;
  const cookies = [clearCookie(env, "signin")];
  switch (finished.kind) {
    case "SIGNED_IN":
      return { json: sessionReply(env, finished, { cookies }), path: returnTo };
    case "LINKED": {
      const { provider, subject, email } = finished.identity;
      const body = { state: "linked", identity: { provider, subject, email } };
      return { json: { ...jsonReply(200, body), cookies }, path: returnTo };
    }
    case "PROOF_REQUIRED": {
      const { email } = finished;
      const kept = [browserCookie(env, browserToken)];
      const json = { ...jsonReply(200, { state: "email_proof_required", email }), cookies: kept };
      return { json, path: proofPath(returnTo, email) };
    }
  }
}

function browserCookie(env: Env, token: string): string {
  return setCookie(env, "signin", token, ATTEMPT_LIFETIME_MS / SECOND_MS);
}

const list = personRoute({
  spec: {
    method: "GET",
    path: MINE,
    operationId: "listIdentities",
    tag: "My account",
    summary: "List the accounts elsewhere that are linked to mine",
    callers: "PERSON",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "All of them, oldest first", schema: identityListBody }],
    refusals: [],
  },
  effects: linkEffects,
  reads: ({ db, tokenHash }) => identityReads(db, tokenHash),
  answer: async (call) => ok(jsonReply(200, identityListOf(call.read[0]))),
});

const link = personRoute({
  spec: {
    method: "POST",
    path: `${MINE}/:provider`,
    operationId: "startIdentityLink",
    tag: "My account",
    summary: "Begin to link a Google or GitHub account",
    description:
      "The provider sends the browser back to the callback, which links when this session is still live there.",
    callers: "PERSON",
    permission: null,
    needsStepUp: true,
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: beginQuery,
    answers: [{ status: 200, description: "Where to send the browser", schema: linkStartBody }],
    refusals: ["PROVIDER_NOT_CONFIGURED", "PROVIDER_UNAVAILABLE"],
  },
  effects: identityEffects,
  reads: () => [],
  answer: async (call) => {
    const { person, session } = call.principal;
    const begun = await beginAttempt(call.fx, {
      provider: call.params.provider,
      browserToken: undefined,
      returnTo: call.query.returnTo ?? "/sign-in",
      linkTo: { userId: person.id, sessionId: session.id },
    });
    if (!begun.ok) return begun;
    const { url, browserToken } = begun.value;
    return ok({ ...jsonReply(200, { url }), cookies: [browserCookie(call.env, browserToken)] });
  },
});

const unlink = personRoute({
  spec: {
    method: "DELETE",
    path: `${MINE}/:provider/:subject`,
    operationId: "unlinkIdentity",
    tag: "My account",
    summary: "Unlink an account elsewhere",
    description:
      "A code by mail signs in as before. Where a team demands the linked account, its members are locked out of it.",
    callers: "PERSON",
    permission: null,
    needsStepUp: true,
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 204, description: "Unlinked" }],
    refusals: ["IDENTITY_NOT_FOUND"],
  },
  effects: linkEffects,
  reads: () => [],
  answer: async (call) => {
    const provider = parseProvider(call.params.provider);
    if (provider === undefined) return err({ code: "IDENTITY_NOT_FOUND" });
    const unlinked = await unlinkIdentity(call.fx, {
      identity: { provider, subject: call.params.subject ?? "" },
      userId: call.principal.person.id,
      trail: call.trail,
    });
    return unlinked.ok ? ok(emptyReply()) : unlinked;
  },
});

export const identityRoutes: readonly MountedRoute[] = [begin, callback, list, link, unlink];
