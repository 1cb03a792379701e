import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { changeTeam, memberAudit, readActors, type TeamDependencies, teamEvent } from "./change-team.ts";
import { type Member, memberBodyOf, type Seat } from "./member.ts";
import { assertSeat, revokeOutranked, setRole } from "./store.ts";

interface Transferred {
  readonly owner: Member;
  readonly previousOwner: Member;
}

/**
 * Makes the OWNER an ADMIN and the target the OWNER, in one batch that aborts if either role has changed since it was read (Interface 3.4). The
 * OWNER's role changes first, because the partial unique index allows only one OWNER. A batch that runs a second time aborts, because the actor is no
 * longer OWNER.
 */
export async function transferOwnership(
  deps: TeamDependencies,
  seat: Seat,
  targetId: string,
): Promise<Result<Transferred, Failure>> {
  const read = () => readActors(deps, seat, { targetId, permission: "team:view" });
  return changeTeam(deps, read, ({ actor, target }, operationId) => {
    if (actor.role !== "OWNER") return err({ code: "OWNER_REQUIRED" });
    if (target === undefined) return err({ code: "MEMBER_NOT_FOUND" });
    if (target.id === actor.id) return err({ code: "ALREADY_OWNER" });
    const previousOwner: Member = { ...actor, role: "ADMIN" };
    const owner: Member = { ...target, role: "OWNER" };
    const changes = [
      { n: 0, before: actor, after: previousOwner },
      { n: 1, before: target, after: owner },
    ];
    return ok({
      value: { owner, previousOwner },
      statements: [
        assertSeat(deps.db, actor),
        assertSeat(deps.db, target),
        ...changes.map(({ after }) => setRole(deps.db, after, after.role, deps.nowMs)),
        ...revokeOutranked(deps, { operationId, member: previousOwner }),
        ...changes.map(({ n, before, after }) =>
          memberAudit(
            deps,
            { operationId, n, member: after },
            { action: "team.role_changed", before: { role: before.role }, after: { role: after.role } },
          ),
        ),
        ...teamEvent(deps, {
          operationId,
          merchantId: actor.merchantId,
          type: "team.ownership_transferred",
          data: { owner: memberBodyOf(owner), previousOwner: memberBodyOf(previousOwner) },
        }),
      ],
    });
  });
}
