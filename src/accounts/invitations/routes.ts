import { sha256Hex } from "../../lib/bytes.ts";
import { pageBody } from "../../lib/pagination.ts";
import { err } from "../../lib/result.ts";
import { emptyReplyTo, replyTo } from "../../platform/http/reply.ts";
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
      return replyTo(pageBody({ rows, total: counts[0]?.total ?? 0 }, query, (row) => invitationBodyOf(row, nowMs)));
    },
  })
  .post(BASE, {
    operationId: "inviteMember",
    summary: "Invite a user by email",
    description:
      "The role must be strictly below yours. To invite an ADMIN you must have given a factor in the last 5 minutes. The link in the mail works once, for 7 days, for a user with that email address. The daily limits are 500 mails from the merchant, 200 from you and 10 to the address. If one is reached, the invitation is still created but its mail waits: `mailedAt` is null until it is sent.",
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
    summary: "Resend an invitation, with a new link that works for 7 days",
    description:
      "The old link stops working. For an invitation to ADMIN you must have given a factor in the last 5 minutes. If a daily limit is reached, the mail waits: `mailedAt` is null until it is sent.",
    permission: "team:invite",
    answers: [{ status: 200, description: "The invitation", schema: invitationBody }],
    refusals: ["INVITATION_NOT_FOUND", "INSUFFICIENT_RANK", "STEP_UP_REQUIRED"],
    answer: async (call) => {
      const { deps, seat } = callerOf(call);
      const stepUp = stepUpRefusal(seat, call.nowMs);
      const of = { invitationId: call.params.invitationId ?? "", token: newToken(), stepUp };
      return replyTo(await resendInvitation(deps, seat, of), (value) => invitationBodyOf(value, call.nowMs));
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
      return emptyReplyTo(await revokeInvitation(deps, seat, call.params.invitationId ?? ""));
    },
  });

const ofUser = routesOf({ tag: "Invitations", callers: "USER", dependencies: teamDependencies })
  .get(MINE, {
    operationId: "listMyInvitations",
    summary: "List your pending invitations, newest first",
    query: invitationsQuery,
    answers: [{ status: 200, description: "One page", schema: waitingListBody }],
    answer: async ({ deps, principal, query }) => {
      return replyTo(await listWaiting(deps, principal.user, query));
    },
  })
  .post(`${MINE}/accept`, {
    operationId: "acceptInvitation",
    summary: "Accept an invitation with the token of its link",
    description: "The email address of your account must be the invited address, and verified.",
    isIdempotent: true,
    body: acceptBody,
    answers: [{ status: 200, description: "Your membership of the team", schema: acceptedBody }],
    refusals: ACCEPT_REFUSALS,
    answer: async (call) => {
      const deps = { ...call.deps, trail: call.trail };
      return answerOnce(call, acceptInvitation(deps, call.principal.user, { tokenHash: sha256Hex(call.body.token) }));
    },
  })
  .post(`${MINE}/:invitationId/accept-by-id`, {
    operationId: "acceptInvitationById",
    summary: "Accept one of your pending invitations",
    isIdempotent: true,
    answers: [{ status: 200, description: "Your membership of the team", schema: acceptedBody }],
    refusals: ACCEPT_REFUSALS,
    answer: async (call) => {
      const deps = { ...call.deps, trail: call.trail };
      const { invitationId = "" } = call.params;
      return answerOnce(call, acceptInvitation(deps, call.principal.user, { invitationId }));
    },
  });

export const invitationRoutes: readonly MountedRoute[] = [...ofTeam, ...ofUser];
