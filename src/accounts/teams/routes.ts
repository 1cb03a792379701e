import { pageBody } from "../../lib/pagination.ts";
import { ok } from "../../lib/result.ts";
import { emptyReplyTo, jsonReply, replyTo } from "../../platform/http/reply.ts";
import { routesOf } from "../pipeline/routes-of.ts";
import { changedPolicy } from "../security-policies/security-policy.ts";
import { callerOf } from "./caller.ts";
import { changeRole } from "./change-role.ts";
import {
  changeRoleBody,
  memberBody,
  memberListBody,
  membersQuery,
  securityBody,
  transferredBody,
  updateSecurityBody,
} from "./contract.ts";
import { teamDependencies } from "./dependencies.ts";
import { memberBodyOf } from "./member.ts";
import { listedMemberOf, memberPageReads, policyReads, stewardReads } from "./read-team.ts";
import { leaveTeam, removeMember } from "./remove-member.ts";
import { transferOwnership } from "./transfer-ownership.ts";
import { updateSecurity } from "./update-security.ts";

const TEAM = "/api/v1/merchants/merchant/:merchantId/team";
const MEMBER = `${TEAM}/members/:memberId`;

export const teamRoutes = routesOf({ tag: "Team", callers: "MEMBER", dependencies: teamDependencies })
  .get(`${TEAM}/members`, {
    operationId: "listMembers",
    summary: "List the members of the team, newest first",
    permission: "team:view",
    query: membersQuery,
    answers: [{ status: 200, description: "One page", schema: memberListBody }],
    reads: ({ db, merchantId, request }) => memberPageReads(db, merchantId, request?.query),
    answer: async ({ read: [rows, counts, [team]], query, merchant, deps }) => {
      if (team === undefined) throw new Error(`the merchant ${merchant.id} has no team`);
      const bodyOf = (row: (typeof rows)[number]) => listedMemberOf(row, team, deps.configured);
      return replyTo(pageBody({ rows, total: counts[0]?.total ?? 0 }, query, bodyOf));
    },
  })
  .patch(MEMBER, {
    operationId: "changeRole",
    summary: "Change a member's role",
    description:
      "The member's current role and new role must both be strictly below yours. Pending invitations that the member could no longer send are revoked.",
    permission: "team:update",
    needsStepUp: true,
    body: changeRoleBody,
    answers: [{ status: 200, description: "The member", schema: memberBody }],
    refusals: ["MEMBER_NOT_FOUND", "INSUFFICIENT_RANK"],
    answer: async (call) => {
      const of = { targetId: call.params.memberId ?? "", role: call.body.role };
      const { deps, seat } = callerOf(call);
      return replyTo(await changeRole(deps, seat, of), memberBodyOf);
    },
  })
  .delete(MEMBER, {
    operationId: "removeMember",
    summary: "Remove a member whose role is strictly below yours",
    description: "API keys and everything else that they created remain.",
    permission: "team:remove",
    answers: [{ status: 204, description: "Removed" }],
    refusals: ["MEMBER_NOT_FOUND", "INSUFFICIENT_RANK"],
    answer: async (call) => {
      const { deps, seat } = callerOf(call);
      return emptyReplyTo(await removeMember(deps, seat, call.params.memberId ?? ""));
    },
  })
  .post(`${TEAM}/leave`, {
    operationId: "leaveTeam",
    endsAccess: true,
    summary: "Leave the team",
    description: "The owner cannot leave and must transfer the ownership first.",
    permission: "team:view",
    answers: [{ status: 204, description: "Left" }],
    refusals: ["OWNER_CANNOT_LEAVE"],
    answer: async (call) => {
      const { deps, seat } = callerOf(call);
      return emptyReplyTo(await leaveTeam(deps, seat));
    },
  })
  .post(`${MEMBER}/transfer-ownership`, {
    operationId: "transferOwnership",
    endsAccess: true,
    summary: "Make another member the owner",
    description: "The member becomes OWNER and you become ADMIN, in one transaction.",
    permission: "team:view",
    needsStepUp: true,
    isOwnerOnly: true,
    answers: [{ status: 200, description: "Both members", schema: transferredBody }],
    refusals: ["MEMBER_NOT_FOUND", "ALREADY_OWNER"],
    answer: async (call) => {
      const { deps, seat } = callerOf(call);
      const moved = await transferOwnership(deps, seat, call.params.memberId ?? "");
      return replyTo(moved, ({ owner, previousOwner }) => ({
        owner: memberBodyOf(owner),
        previousOwner: memberBodyOf(previousOwner),
      }));
    },
  })
  .get(`${TEAM}/security`, {
    operationId: "getTeamSecurity",
    summary: "Read the security settings that the team requires of its members",
    permission: "team:view",
    answers: [{ status: 200, description: "The five security settings", schema: securityBody }],
    reads: ({ db, merchantId }) => policyReads(db, merchantId),
    answer: async ({ read: [[team]], merchant }) => {
      if (team === undefined) throw new Error(`the merchant ${merchant.id} has no team`);
      return ok(jsonReply(200, changedPolicy(team, {})));
    },
  })
  .patch(`${TEAM}/security`, {
    operationId: "updateTeamSecurity",
    summary: "Change the security settings that the team requires",
    description:
      "They apply to every member, including the owner, but never to API keys. You cannot require what your own account does not have.",
    permission: "team:view",
    needsStepUp: true,
    isOwnerOnly: true,
    body: updateSecurityBody,
    answers: [{ status: 200, description: "The five security settings", schema: securityBody }],
    refusals: ["OWNER_LACKS_FACTOR", "PROVIDER_NOT_CONFIGURED"],
    reads: ({ db, merchantId }) => stewardReads(db, merchantId),
    answer: async (call) => {
      const { deps, seat } = callerOf(call);
      const { user } = seat;
      const readers = call.read[0].map(({ email }) => email);
      const watch = { place: call.merchant.name, author: user.email, readers, refusal: undefined };
      return replyTo(await updateSecurity(deps, { seat, user, watch }, call.body));
    },
  });
