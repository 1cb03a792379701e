import type { MountedRoute } from "../auth/middleware.ts";
import { clearCookie } from "../http/cookies.ts";
import { emptyReply, jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { err, ok } from "../lib/result.ts";
import { listSessionsQuery, sessionListBody } from "./contract.ts";
import { accountEffects } from "./effects.ts";
import { listSessions, sessionPageReads } from "./list-sessions.ts";
import { personRoute } from "./middleware.ts";
import { ownSessionReads, revokeOthers, revokeSession } from "./revoke-session.ts";

const SESSIONS = "/api/v1/me/sessions";
const person = {
  callers: "PERSON",
  permission: null,
  isForPublicKeys: false,
  isIdempotent: false,
  body: noBody,
  query: noQuery,
} as const;

const signOut = personRoute({
  spec: {
    ...person,
    method: "POST",
    path: "/api/v1/auth/sign-out",
    operationId: "signOut",
    tag: "Sign-in",
    summary: "End this session",
    description: "Also while the second factor is owed.",
    answers: [{ status: 204, description: "Signed out" }],
    refusals: [],
  },
  mayOweFactor: true,
  effects: accountEffects,
  reads: () => [],
  answer: async (call) => {
    const ended = await revokeSession(call.fx, { sessionId: call.principal.session.id, trail: call.trail });
    return ended.ok ? ok({ ...emptyReply(), cookies: [clearCookie(call.env, "session")] }) : ended;
  },
});

const list = personRoute({
  spec: {
    ...person,
    method: "GET",
    path: SESSIONS,
    operationId: "listSessions",
    tag: "My account",
    summary: "List the browsers that are signed in, newest first",
    query: listSessionsQuery,
    answers: [{ status: 200, description: "Live sessions", schema: sessionListBody }],
    refusals: [],
  },
  effects: accountEffects,
  reads: ({ db, fx, tokenHash, request }) => sessionPageReads(db, { tokenHash, nowMs: fx.nowMs }, request?.query),
  answer: async (call) => {
    const [rows, [count]] = call.read;
    const listed = listSessions({ rows, total: count?.total ?? 0 }, call.query, call.principal.session);
    return listed.ok ? ok(jsonReply(200, listed.value)) : listed;
  },
});

const revoke = personRoute({
  spec: {
    ...person,
    method: "DELETE",
    path: `${SESSIONS}/:sessionId`,
    operationId: "revokeSession",
    tag: "My account",
    summary: "Sign one browser out",
    answers: [{ status: 204, description: "The session is over" }],
    refusals: ["SESSION_NOT_FOUND"],
  },
  effects: accountEffects,
  reads: ({ db, fx, tokenHash, params }) =>
    ownSessionReads(db, { tokenHash, sessionId: params.sessionId ?? "", nowMs: fx.nowMs }),
  answer: async (call) => {
    const [[found]] = call.read;
    if (found === undefined) return err({ code: "SESSION_NOT_FOUND" });
    const ended = await revokeSession(call.fx, { sessionId: found.id, trail: call.trail });
    if (!ended.ok) return ended;
    const isCurrent = found.id === call.principal.session.id;
    return ok({ ...emptyReply(), cookies: isCurrent ? [clearCookie(call.env, "session")] : [] });
  },
});

const revokeAll = personRoute({
  spec: {
    ...person,
    method: "DELETE",
    path: SESSIONS,
    operationId: "revokeOtherSessions",
    tag: "My account",
    summary: "Sign every other browser out",
    answers: [{ status: 204, description: "Only this session is left" }],
    refusals: [],
  },
  effects: accountEffects,
  reads: () => [],
  answer: async (call) => {
    const { session, person: caller } = call.principal;
    const ended = await revokeOthers(call.fx, { userId: caller.id, kept: session.id, trail: call.trail });
    return ended.ok ? ok(emptyReply()) : ended;
  },
});

export const sessionRoutes: readonly MountedRoute[] = [signOut, list, revoke, revokeAll];
