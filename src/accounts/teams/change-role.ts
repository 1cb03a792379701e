import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Role } from "../roles/roles.ts";
import { changeTeam, memberAudit, readActors, type TeamDependencies, teamEvent } from "./change-team.ts";
import { type Member, memberBodyOf, type Seat } from "./member.ts";
import { mayChangeRole } from "./rank.ts";
import { assertSeat, revokeOutranked, setRole } from "./store.ts";

/**
 * Changes a member's role and returns the changed member. The same batch revokes their open invitations to roles that they no longer outrank. Writes
 * nothing if the role is the same.
 */
export async function changeRole(
  deps: TeamDependencies,
  seat: Seat,
  of: { readonly targetId: string; readonly role: Role },
): Promise<Result<Member, Failure>> {
  const { targetId, role } = of;
  const read = () => readActors(deps, seat, { targetId, permission: "team:update" });
  return changeTeam(deps, read, ({ actor, target }, operationId) => {
    if (target === undefined) return err({ code: "MEMBER_NOT_FOUND" });
    if (!mayChangeRole(actor.role, target.role, role)) return err({ code: "INSUFFICIENT_RANK" });
    if (target.role === role) return ok({ value: target });
    const changed: Member = { ...target, role };
    return ok({
      value: changed,
      statements: [
        assertSeat(deps.db, actor),
        assertSeat(deps.db, target),
        setRole(deps.db, target, role, deps.nowMs),
        ...revokeOutranked(deps, { operationId, member: changed }),
        memberAudit(
          deps,
          { operationId, member: target },
          { action: "team.role_changed", before: { role: target.role }, after: { role } },
        ),
        ...teamEvent(deps, {
          operationId,
          merchantId: target.merchantId,
          type: "team.role_changed",
          data: { memberId: target.id, member: memberBodyOf(changed), previousRole: target.role },
        }),
      ],
    });
  });
}
