import { derivedId, makeId } from "../../lib/ids.ts";
import { limitReached } from "../../lib/limits.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { memberAudit, type TeamDependencies, teamEvent } from "../teams/change-team.ts";
import { type Member, memberBodyOf } from "../teams/member.ts";
import { assertTeamRoom, insertMember, selectTeamFull } from "../teams/store.ts";
import type { User } from "../users/user.ts";
import { acceptRefusal, type OfferedInvitation } from "./invitation.ts";
import { assertAcceptable, type InvitationKey, selectOffered, updateInvitation } from "./store.ts";

/**
 * Accepts an invitation, as work for `runOnce`. One batch creates the seat, ends the invitation and asserts everything that the decision depends on
 * (Interface 3.3). Only one of several concurrent acceptances commits; the others read again and find the invitation used. Fails with LIMIT_REACHED
 * if the team has reached the daily limit of new members; the invitation stays open.
 */
export function acceptInvitation(deps: TeamDependencies, user: User, key: InvitationKey): Work {
  return async (operationId, conflict): Promise<Prepared> => {
    throwUnlessContention("an acceptance", conflict);
    const rows = await readWithRetry(deps.sleep, async () => selectOffered(deps.db, key, user.id));
    if (!rows.ok) return { kind: "refused", failure: rows.error };
    const [offered] = rows.value;
    const memberId = makeId("mem", operationId);
    if (offered === undefined) return { kind: "refused", failure: { code: "INVITATION_NOT_FOUND" } };
    // Our own earlier batch may have committed. Then this one aborts because of its operation id, and the stored response is returned.
    const failure = offered.seatId === memberId ? undefined : acceptRefusal(offered, user, deps.nowMs);
    if (failure !== undefined) return { kind: "refused", failure };
    const { merchantId, role } = offered;
    if (conflict !== undefined) {
      const room = await readWithRetry(deps.sleep, async () => selectTeamFull(deps.db, merchantId, deps.nowMs));
      if (!room.ok) return { kind: "refused", failure: room.error };
      if (room.value[0]?.isFull === 1)
        return { kind: "refused", failure: limitReached("membersJoinedPerMerchantAndDay") };
    }
    const member: Member = {
      id: memberId,
      merchantId,
      userId: user.id,
      role,
      createdAtMs: deps.nowMs,
      email: user.email,
      name: user.name,
    };
    return {
      kind: "ready",
      status: 200,
      body: JSON.stringify({ ...memberBodyOf(member), merchantId }),
      statements: statementsOf(deps, { operationId, offered, member }),
    };
  };
}

function statementsOf(
  deps: TeamDependencies,
  of: { readonly operationId: string; readonly offered: OfferedInvitation; readonly member: Member },
) {
  const { operationId, offered, member } = of;
  const { id, merchantId, userId, role, createdAtMs } = member;
  const accepted = { acceptedAtMs: deps.nowMs, acceptedBy: userId };
  const entry = {
    id: derivedId("aud", operationId),
    merchantId,
    action: "team.invitation_accepted",
    target: offered.id,
    after: { memberId: id, role },
  } as const;
  return [
    assertAcceptable(deps.db, offered, userId, deps.nowMs),
    assertTeamRoom(deps.db, merchantId, deps.nowMs),
    updateInvitation(deps.db, offered, accepted, deps.nowMs),
    insertMember(deps.db, { id, merchantId, userId, role, createdAtMs, updatedAtMs: createdAtMs }),
    insertAudit(deps.db, deps.trail, entry, deps.nowMs),
    memberAudit(deps, { operationId, n: 1, member }, { action: "team.member_joined", after: { userId, role } }),
    ...teamEvent(deps, {
      operationId,
      merchantId,
      type: "team.member_joined",
      data: { memberId: id, member: memberBodyOf(member) },
    }),
  ];
}
