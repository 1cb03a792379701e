import { err, ok, type Result } from "../../lib/result.ts";
import type { AuditAction } from "../../platform/column-values.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import { changeTeam, memberAudit, readActors, type TeamDependencies, teamEvent } from "./change-team.ts";
import { type Member, memberBodyOf, type Seat } from "./member.ts";
import { mayRemove } from "./rank.ts";
import { assertSeat, deleteMember, revokeOutranked } from "./store.ts";

/** Removes a member strictly below the caller; keys and resources that they created stay (Interface 4.4a). */
export async function removeMember(
  deps: TeamDependencies,
  seat: Seat,
  targetId: string,
): Promise<Result<Member, Failure>> {
  const read = () => readActors(deps, seat, { targetId, permission: "team:remove" });
  return changeTeam(deps, read, ({ actor, target }, operationId) => {
    if (target === undefined) return err({ code: "MEMBER_NOT_FOUND" });
    if (!mayRemove(actor.role, target.role)) return err({ code: "INSUFFICIENT_RANK" });
    const gone = removalStatements(deps, { operationId, member: target, action: "team.member_removed" });
    return ok({ value: target, statements: [assertSeat(deps.db, actor), ...gone] });
  });
}

/** Removes the caller's own seat. Refused for the OWNER, who must transfer the ownership first (decisions 7). */
export async function leaveTeam(deps: TeamDependencies, seat: Seat): Promise<Result<Member, Failure>> {
  const read = () => readActors(deps, seat, { permission: "team:view" });
  return changeTeam(deps, read, ({ actor }, operationId) => {
    if (actor.role === "OWNER") return err({ code: "OWNER_CANNOT_LEAVE" });
    return ok({
      value: actor,
      statements: removalStatements(deps, { operationId, member: actor, action: "team.member_left" }),
    });
  });
}

/** A removed member outranks no role, so the same batch revokes all of their open invitations. */
function removalStatements(
  deps: TeamDependencies,
  of: { readonly operationId: string; readonly member: Member; readonly action: AuditAction },
): readonly Write[] {
  const { operationId, member, action } = of;
  return [
    assertSeat(deps.db, member),
    deleteMember(deps.db, member),
    ...revokeOutranked(deps, { operationId, member: { ...member, role: undefined } }),
    memberAudit(deps, { operationId, member }, { action, before: { userId: member.userId, role: member.role } }),
    ...teamEvent(deps, {
      operationId,
      merchantId: member.merchantId,
      type: "team.member_removed",
      data: { memberId: member.id, member: memberBodyOf(member), hasLeft: action === "team.member_left" },
    }),
  ];
}
