import { type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { stepUpRefusal } from "../auth/principal.ts";
import { emptyReply, jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerOnce } from "../idempotency/middleware.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { pageBody } from "../lib/pagination.ts";
import { err, ok } from "../lib/result.ts";
import { personRoute } from "../sessions/middleware.ts";
import { newToken } from "../sessions/open-session.ts";
import { callerOf } from "../teams/caller.ts";
import { teamEffects } from "../teams/effects.ts";
import { isProtectedRole, mayInvite } from "../teams/rank.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
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

const ofTeam = {
  tag: "Invitations",
  callers: "MEMBER",
  isForPublicKeys: false,
  isIdempotent: false,
  body: noBody,
  query: noQuery,
} as const;
const shell = { secrets: FREE_TEXT, effects: teamEffects };
const ofPerson = { ...ofTeam, callers: "PERSON", permission: null } as const;

const list = merchantRoute({
  spec: {
    ...ofTeam,
    method: "GET",
    path: BASE,
    operationId: "listInvitations",
    summary: "List the invitations of the team, newest first",
    permission: "team:view",
    query: invitationsQuery,
    answers: [{ status: 200, description: "One page", schema: invitationListBody }],
    refusals: [],
  },
  ...shell,
  reads: ({ db, merchantId, request }) => invitationPageReads(db, merchantId, request?.query),
  answer: async ({ read: [rows, counts], query, nowMs }) => {
    const page = pageBody({ rows, total: counts[0]?.total ?? 0 }, query, (row) => invitationBodyOf(row, nowMs));
    return page.ok ? ok(jsonReply(200, page.value)) : page;
  },
});

const invite = merchantRoute({
  spec: {
    ...ofTeam,
    method: "POST",
    path: BASE,
    operationId: "inviteMember",
    summary: "Invite somebody by email",
    description:
      "To a role strictly below yours; to ADMIN only after a factor in the last 5 minutes. The mail's link works once, for 7 days, for the holder of that address. 500 mails a day.",
    permission: "team:invite",
    isIdempotent: true,
    body: inviteBody,
    answers: [{ status: 201, description: "The invitation", schema: invitationBody }],
    refusals: ["INSUFFICIENT_RANK", "ALREADY_MEMBER", "INVITATION_EXISTS", "STEP_UP_REQUIRED"],
  },
  ...shell,
  reads: () => [],
  answer: async (call) => {
    const { fx, seat } = callerOf(call);
    const { role } = call.body;
    const stepUp = isProtectedRole(role) && mayInvite(seat.role, role) ? stepUpRefusal(seat, call.nowMs) : undefined;
    if (stepUp !== undefined) return err(stepUp);
    const token = newToken();
    const reply = await answerOnce(call, inviteMember(fx, { seat, ...call.body, token }));
    if (reply.ok) await sendInvitation(fx, token);
    return reply;
  },
});

const resend = merchantRoute({
  spec: {
    ...ofTeam,
    method: "POST",
    path: `${BASE}/:invitationId/resend`,
    operationId: "resendInvitation",
    summary: "Send an invitation anew, with a new link and new 7 days",
    description: "The old link is dead.",
    permission: "team:invite",
    answers: [{ status: 200, description: "The invitation", schema: invitationBody }],
    refusals: ["INVITATION_NOT_FOUND", "INSUFFICIENT_RANK"],
  },
  ...shell,
  reads: () => [],
  answer: async (call) => {
    const { fx, seat } = callerOf(call);
    const token = newToken();
    const sent = await resendInvitation(fx, seat, { invitationId: call.params.invitationId ?? "", token });
    if (!sent.ok) return sent;
    await sendInvitation(fx, token);
    return ok(jsonReply(200, invitationBodyOf(sent.value, call.nowMs)));
  },
});

const revoke = merchantRoute({
  spec: {
    ...ofTeam,
    method: "DELETE",
    path: `${BASE}/:invitationId`,
    operationId: "revokeInvitation",
    summary: "Revoke an invitation that was not accepted",
    permission: "team:invite",
    answers: [{ status: 204, description: "Revoked" }],
    refusals: ["INVITATION_NOT_FOUND"],
  },
  ...shell,
  reads: () => [],
  answer: async (call) => {
    const { fx, seat } = callerOf(call);
    const revoked = await revokeInvitation(fx, seat, call.params.invitationId ?? "");
    return revoked.ok ? ok(emptyReply()) : revoked;
  },
});

const waiting = personRoute({
  spec: {
    ...ofPerson,
    method: "GET",
    path: MINE,
    operationId: "listMyInvitations",
    summary: "List the invitations that wait for you, newest first",
    query: invitationsQuery,
    answers: [{ status: 200, description: "One page", schema: waitingListBody }],
    refusals: [],
  },
  effects: teamEffects,
  reads: () => [],
  answer: async ({ fx, principal, query }) => {
    const page = await listWaiting(fx, principal.person, query);
    return page.ok ? ok(jsonReply(200, page.value)) : page;
  },
});

const ACCEPT_REFUSALS = [
  "INVITATION_NOT_FOUND",
  "INVITATION_EMAIL_MISMATCH",
  "INVITATION_EXPIRED",
  "ALREADY_MEMBER",
] as const;

const accept = personRoute({
  spec: {
    ...ofPerson,
    method: "POST",
    path: `${MINE}/accept`,
    operationId: "acceptInvitation",
    summary: "Accept an invitation by the token of its link",
    description: "Your account must hold, verified, the address that was invited.",
    isIdempotent: true,
    body: acceptBody,
    answers: [{ status: 200, description: "Your seat in the team", schema: acceptedBody }],
    refusals: ACCEPT_REFUSALS,
  },
  effects: teamEffects,
  reads: () => [],
  answer: async (call) => {
    const fx = { ...call.fx, trail: call.trail };
    return answerOnce(call, acceptInvitation(fx, call.principal.person, { tokenHash: sha256Hex(call.body.token) }));
  },
});

const acceptById = personRoute({
  spec: {
    ...ofPerson,
    method: "POST",
    path: `${MINE}/:invitationId/accept-by-id`,
    operationId: "acceptInvitationById",
    summary: "Accept an invitation that waits for you",
    isIdempotent: true,
    answers: [{ status: 200, description: "Your seat in the team", schema: acceptedBody }],
    refusals: ACCEPT_REFUSALS,
  },
  effects: teamEffects,
  reads: () => [],
  answer: async (call) => {
    const fx = { ...call.fx, trail: call.trail };
    const { invitationId = "" } = call.params;
    return answerOnce(call, acceptInvitation(fx, call.principal.person, { invitationId }));
  },
});

export const invitationRoutes: readonly MountedRoute[] = [
  ...[list, invite, resend, revoke],
  ...[waiting, accept, acceptById],
];
