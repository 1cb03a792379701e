import { sha256Hex } from "../../lib/bytes.ts";
import { pageBody } from "../../lib/pagination.ts";
import { err, ok } from "../../lib/result.ts";
import { emptyReply, jsonReply } from "../../platform/http/reply.ts";
import { stepUpRefusal } from "../auth/principal.ts";
import { answerOnce } from "../pipeline/answer-once.ts";
import { type MountedRoute, routesOf } from "../pipeline/routes-of.ts";
import { newToken } from "../sessions/open-session.ts";
import { callerOf } from "../teams/caller.ts";
import { teamDependencies } from "../teams/dependencies.ts";
import { isProtectedRole, mayInvite } from "../teams/rank.ts";
import { acceptInvitation } from "./accept-invitation.ts";
import {
  acceptBody,
  acceptedBody,
  invitationBody,
  invitationListBody,
  invitationsQuery,
  inviteBody,
  waitingListBody,
} from "./contract.ts";
import { invitationBodyOf } from "./invitation.ts";
import { inviteMember } from "./invite-member.ts";
import { invitationPageReads, listWaiting } from "./list-invitations.ts";
import { resendInvitation } from "./resend-invitation.ts";
import { revokeInvitation } from "./revoke-invitation.ts";
import { sendInvitation } from "./send-invitation.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/team/invitations";
const MINE = "/api/v1/team/invitations";

const ACCEPT_REFUSALS = [
  "INVITATION_NOT_FOUND",
  "INVITATION_EMAIL_MISMATCH",
  "INVITATION_EXPIRED",
  "ALREADY_MEMBER",
  "LIMIT_REACHED",
] as const;

const ofTeam = routesOf({ tag: "Invitations", callers: "MEMBER", dependencies: teamDependencies })
  .get(BASE, {
    operationId: "listInvitations",
    summary: "List the invitations of the team, newest first",
    permission: "team:view",
    query: invitationsQuery,
    answers: [{ status: 200, description: "One page", schema: invitationListBody }],
    reads: ({ db, merchantId, request }) => invitationPageReads(db, merchantId, request?.query),
    answer: async ({ read: [rows, counts], query, nowMs }) => {
      const page = pageBody({ rows, total: counts[0]?.total ?? 0 }, query, (row) => invitationBodyOf(row, nowMs));
      return page.ok ? ok(jsonReply(200, page.value)) : page;
    },
  })
  .post(BASE, {
    operationId: "inviteMember",
    summary: "Invite somebody by email",
    description:
      "To a role strictly below yours; to ADMIN only after a factor in the last 5 minutes. The mail's link works once, for 7 days, for the holder of that address. Past 500 mails a day of the merchant, 200 of yours or 10 to the address the invitation is made all the same, and its mail waits: `mailedAt` is null until it goes out.",
    permission: "team:invite",
    isIdempotent: true,
    body: inviteBody,
    answers: [{ status: 201, description: "The invitation", schema: invitationBody }],
    refusals: ["INSUFFICIENT_RANK", "ALREADY_MEMBER", "INVITATION_EXISTS", "STEP_UP_REQUIRED"],
    answer: async (call) => {
      const { deps, seat } = callerOf(call);
      const { role } = call.body;
      const stepUp = isProtectedRole(role) && mayInvite(seat.role, role) ? stepUpRefusal(seat, call.nowMs) : undefined;
      if (stepUp !== undefined) return err(stepUp);
      const token = newToken();
      const reply = await answerOnce(call, inviteMember(deps, { seat, ...call.body, token }));
      if (reply.ok) await sendInvitation(deps, token);
      return reply;
    },
  })
  .post(`${BASE}/:invitationId/resend`, {
    operationId: "resendInvitation",
    summary: "Send an invitation anew, with a new link and new 7 days",
    description:
      "The old link is dead. The mail waits where a day's limit is reached: `mailedAt` is null until it goes out.",
    permission: "team:invite",
    answers: [{ status: 200, description: "The invitation", schema: invitationBody }],
    refusals: ["INVITATION_NOT_FOUND", "INSUFFICIENT_RANK"],
    answer: async (call) => {
      const { deps, seat } = callerOf(call);
      const token = newToken();
      const sent = await resendInvitation(deps, seat, { invitationId: call.params.invitationId ?? "", token });
      if (!sent.ok) return sent;
      await sendInvitation(deps, token);
      return ok(jsonReply(200, invitationBodyOf(sent.value, call.nowMs)));
    },
  })
  .delete(`${BASE}/:invitationId`, {
    operationId: "revokeInvitation",
    summary: "Revoke an invitation that was not accepted",
    permission: "team:invite",
    answers: [{ status: 204, description: "Revoked" }],
    refusals: ["INVITATION_NOT_FOUND"],
    answer: async (call) => {
      const { deps, seat } = callerOf(call);
      const revoked = await revokeInvitation(deps, seat, call.params.invitationId ?? "");
      return revoked.ok ? ok(emptyReply()) : revoked;
    },
  });

const ofUser = routesOf({ tag: "Invitations", callers: "PERSON", dependencies: teamDependencies })
  .get(MINE, {
    operationId: "listMyInvitations",
    summary: "List the invitations that wait for you, newest first",
    query: invitationsQuery,
    answers: [{ status: 200, description: "One page", schema: waitingListBody }],
    answer: async ({ deps, principal, query }) => {
      const page = await listWaiting(deps, principal.user, query);
      return page.ok ? ok(jsonReply(200, page.value)) : page;
    },
  })
  .post(`${MINE}/accept`, {
    operationId: "acceptInvitation",
    summary: "Accept an invitation by the token of its link",
    description: "Your account must hold, verified, the address that was invited.",
    isIdempotent: true,
    body: acceptBody,
    answers: [{ status: 200, description: "Your seat in the team", schema: acceptedBody }],
    refusals: ACCEPT_REFUSALS,
    answer: async (call) => {
      const deps = { ...call.deps, trail: call.trail };
      return answerOnce(call, acceptInvitation(deps, call.principal.user, { tokenHash: sha256Hex(call.body.token) }));
    },
  })
  .post(`${MINE}/:invitationId/accept-by-id`, {
    operationId: "acceptInvitationById",
    summary: "Accept an invitation that waits for you",
    isIdempotent: true,
    answers: [{ status: 200, description: "Your seat in the team", schema: acceptedBody }],
    refusals: ACCEPT_REFUSALS,
    answer: async (call) => {
      const deps = { ...call.deps, trail: call.trail };
      const { invitationId = "" } = call.params;
      return answerOnce(call, acceptInvitation(deps, call.principal.user, { invitationId }));
    },
  });

export const invitationRoutes: readonly MountedRoute[] = [...ofTeam, ...ofUser];
