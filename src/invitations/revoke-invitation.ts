import { insertAudit } from "../audit/store.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { changeTeam, readActors, type TeamEffects } from "../teams/change-team.ts";
import type { Seat } from "../teams/member.ts";
import { assertSeat } from "../teams/store.ts";
import { type Invitation, isOpen } from "./invitation.ts";
import { assertOpen, selectInvitation, updateInvitation } from "./store.ts";

/** Takes an open invitation back, expired or not: its link is dead. */
export async function revokeInvitation(
  fx: TeamEffects,
  seat: Seat,
  invitationId: string,
): Promise<Result<Invitation, Failure>> {
  const read = async () => {
    const actors = await readActors(fx, seat, { permission: "team:invite" });
    if (!actors.ok) return actors;
    const rows = await readWithRetry(fx.sleep, async () => selectInvitation(fx.db, seat.merchantId, invitationId));
    return rows.ok ? ok({ actor: actors.value.actor, invitation: rows.value[0] }) : rows;
  };
  return changeTeam(fx, read, ({ actor, invitation }, operationId) => {
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
      value: { ...invitation, revokedAtMs: fx.nowMs },
      statements: [
        assertSeat(fx.db, actor),
        assertOpen(fx.db, invitation),
        updateInvitation(fx.db, invitation, { revokedAtMs: fx.nowMs }, fx.nowMs),
        insertAudit(fx.db, fx.trail, entry, fx.nowMs),
      ],
    });
  });
}
