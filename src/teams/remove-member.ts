import type { BatchItem } from "drizzle-orm/batch";
import type { AuditAction } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import { revokeOutranked } from "../invitations/store.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { changeTeam, memberAudit, readActors, type TeamEffects, teamEvent } from "./change-team.ts";
import { type Member, memberBodyOf, type Seat } from "./member.ts";
import { mayRemove } from "./rank.ts";
import { assertSeat, deleteMember } from "./store.ts";

/** Takes away the seat of somebody strictly below; keys and resources that they made stay (Interface 4.4a). */
export async function removeMember(fx: TeamEffects, seat: Seat, targetId: string): Promise<Result<Member, Failure>> {
  const read = () => readActors(fx, seat, { targetId, permission: "team:remove" });
  return changeTeam(fx, read, ({ actor, target }, operationId) => {
    if (target === undefined) return err({ code: "MEMBER_NOT_FOUND" });
    if (!mayRemove(actor.role, target.role)) return err({ code: "INSUFFICIENT_RANK" });
    const gone = goodbye(fx, { operationId, member: target, action: "team.member_removed" });
    return ok({ value: target, statements: [assertSeat(fx.db, actor), ...gone] });
  });
}

/** Gives up one's own seat. The OWNER cannot: they transfer first (decisions 7). */
export async function leaveTeam(fx: TeamEffects, seat: Seat): Promise<Result<Member, Failure>> {
  const read = () => readActors(fx, seat, { permission: "team:view" });
  return changeTeam(fx, read, ({ actor }, operationId) => {
    if (actor.role === "OWNER") return err({ code: "OWNER_CANNOT_LEAVE" });
    return ok({ value: actor, statements: goodbye(fx, { operationId, member: actor, action: "team.member_left" }) });
  });
}

/** Whoever is gone outranks nobody: their pending invitations go with them. */
function goodbye(
  fx: TeamEffects,
  of: { readonly operationId: string; readonly member: Member; readonly action: AuditAction },
): readonly BatchItem<"sqlite">[] {
  const { operationId, member, action } = of;
  return [
    assertSeat(fx.db, member),
    deleteMember(fx.db, member),
    ...revokeOutranked(fx, { operationId, member: { ...member, role: undefined } }),
    memberAudit(fx, { operationId, member }, { action, before: { userId: member.userId, role: member.role } }),
    ...teamEvent(fx, {
      operationId,
      merchantId: member.merchantId,
      type: "team.member_removed",
      data: { memberId: member.id, member: memberBodyOf(member), hasLeft: action === "team.member_left" },
    }),
  ];
}
