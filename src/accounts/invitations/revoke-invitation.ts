import { derivedId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { changeTeam, readActors, type TeamDependencies } from "../teams/change-team.ts";
import type { Seat } from "../teams/member.ts";
import { assertSeat } from "../teams/store.ts";
import { type Invitation, isOpen } from "./invitation.ts";
import { assertOpen, selectInvitation, updateInvitation } from "./store.ts";

/** Revokes an open invitation, expired or not; its link stops working. */
export async function revokeInvitation(
  deps: TeamDependencies,
  seat: Seat,
  invitationId: string,
): Promise<Result<Invitation, Failure>> {
  const read = async () => {
    const actors = await readActors(deps, seat, { permission: "team:invite" });
    if (!actors.ok) return actors;
    const rows = await readWithRetry(deps.sleep, async () => selectInvitation(deps.db, seat.merchantId, invitationId));
    return rows.ok ? ok({ actor: actors.value.actor, invitation: rows.value[0] }) : rows;
  };
  return changeTeam(deps, read, ({ actor, invitation }, operationId) => {
    if (invitation === undefined || !isOpen(invitation)) return err({ code: "INVITATION_NOT_FOUND" });
    const { id, merchantId, email, role } = invitation;
    const auditId = derivedId("aud", operationId);
    const entry = {
      id: auditId,
      merchantId,
      action: "team.invitation_revoked",
      target: id,
      after: { email, role },
    } as const;
    return ok({
      value: { ...invitation, revokedAtMs: deps.nowMs },
      statements: [
        assertSeat(deps.db, actor),
        assertOpen(deps.db, invitation),
        updateInvitation(deps.db, invitation, { revokedAtMs: deps.nowMs }, deps.nowMs),
        insertAudit(deps.db, deps.trail, entry, deps.nowMs),
      ],
    });
  });
}
