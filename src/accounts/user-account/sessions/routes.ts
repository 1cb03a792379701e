import { err, ok } from "../../../lib/result.ts";
import { clearCookie } from "../../../platform/http/cookies.ts";
import { emptyReply, emptyReplyTo, replyTo } from "../../../platform/http/reply.ts";
import { type MountedRoute, routesOf } from "../../pipeline/routes-of.ts";
import { accountDependencies } from "../../sessions/dependencies.ts";
import { ownSessionReads, revokeOthers, revokeSession } from "../../sessions/revoke-session.ts";
import { listSessionsQuery, sessionListBody } from "./contract.ts";
import { listSessions, sessionPageReads } from "./list-sessions.ts";

const SESSIONS = "/api/v1/me/sessions";

const signOut = routesOf({ tag: "Sign-in", callers: "USER", dependencies: accountDependencies }).post(
  "/api/v1/auth/sign-out",
  {
    operationId: "signOut",
    summary: "Sign out: end this session",
    description: "Also works before the second factor has been given.",
    mayOweFactor: true,
    answers: [{ status: 204, description: "Signed out" }],
    answer: async (call) => {
      const ended = await revokeSession(call.deps, { sessionId: call.principal.session.id, trail: call.trail });
      return ended.ok ? ok({ ...emptyReply(), cookies: [clearCookie(call.env, "session")] }) : ended;
    },
  },
);

const mine = routesOf({ tag: "My account", callers: "USER", dependencies: accountDependencies })
  .get(SESSIONS, {
    operationId: "listSessions",
    summary: "List your sessions, newest first",
    query: listSessionsQuery,
    answers: [{ status: 200, description: "Live sessions", schema: sessionListBody }],
    reads: ({ db, deps, tokenHash, request }) => sessionPageReads(db, { tokenHash, nowMs: deps.nowMs }, request?.query),
    answer: async (call) => {
      const [rows, [count]] = call.read;
      return replyTo(listSessions({ rows, total: count?.total ?? 0 }, call.query, call.principal.session));
    },
  })
  .delete(`${SESSIONS}/:sessionId`, {
    operationId: "revokeSession",
    summary: "End one of your sessions",
    answers: [{ status: 204, description: "The session has ended" }],
    refusals: ["SESSION_NOT_FOUND"],
    reads: ({ db, deps, tokenHash, params }) =>
      ownSessionReads(db, { tokenHash, sessionId: params.sessionId ?? "", nowMs: deps.nowMs }),
    answer: async (call) => {
      const [[found]] = call.read;
      if (found === undefined) return err({ code: "SESSION_NOT_FOUND" });
      const ended = await revokeSession(call.deps, { sessionId: found.id, trail: call.trail });
      if (!ended.ok) return ended;
      const isCurrent = found.id === call.principal.session.id;
      return ok({ ...emptyReply(), cookies: isCurrent ? [clearCookie(call.env, "session")] : [] });
    },
  })
  .delete(SESSIONS, {
    operationId: "revokeOtherSessions",
    summary: "End all other sessions",
    answers: [{ status: 204, description: "All other sessions have ended" }],
    answer: async (call) => {
      const { session, user: caller } = call.principal;
      return emptyReplyTo(await revokeOthers(call.deps, { userId: caller.id, kept: session.id, trail: call.trail }));
    },
  });

export const sessionRoutes: readonly MountedRoute[] = [...signOut, ...mine];
