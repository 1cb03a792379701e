import { insertAudit } from "../audit/store.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { changeTeam, readActors, type TeamEffects } from "../teams/change-team.ts";
import type { Seat } from "../teams/member.ts";
import { mayInvite } from "../teams/rank.ts";
import { assertSeat } from "../teams/store.ts";
import { INVITATION_LIFETIME_MS, type Invitation, isOpen, mailsRefusal } from "./invitation.ts";
import { assertMailsLeft, assertOpen, selectInvitation, selectMailsOver, updateInvitation } from "./store.ts";

/**
 * A new token and new 7 days for an invitation that is open, expired or not; the old link is dead. From now on the rank of whoever sent it
 * anew vouches for it. The mail follows by `sendInvitation`.
 */
export async function resendInvitation(
  fx: TeamEffects,
  seat: Seat,
  of: { readonly invitationId: string; readonly token: string },
): Promise<Result<Invitation, Failure>> {
  const read = () => readInvitation(fx, seat, of.invitationId);
  return changeTeam(fx, read, ({ actor, invitation, mailsOver }, operationId) => {
    if (invitation === undefined || !isOpen(invitation)) return err({ code: "INVITATION_NOT_FOUND" });
    if (!mayInvite(actor.role, invitation.role)) return err({ code: "INSUFFICIENT_RANK" });
    const refusal = mailsRefusal(mailsOver, fx.nowMs);
    if (refusal !== undefined) return err(refusal);
    const { id, merchantId, email, role } = invitation;
    const changes = {
      tokenHash: sha256Hex(of.token),
      invitedBy: actor.userId,
      expiresAtMs: fx.nowMs + INVITATION_LIFETIME_MS,
    };
    const entry = {
      id: derivedId("aud", operationId),
      merchantId,
      action: "team.invitation_resent",
      target: id,
      after: { email, role },
    } as const;
    return ok({
      value: { ...invitation, ...changes },
      statements: [
        assertSeat(fx.db, actor),
        assertOpen(fx.db, invitation),
        assertMailsLeft(fx.db, merchantId, fx.nowMs),
        updateInvitation(fx.db, invitation, changes, fx.nowMs),
        insertAudit(fx.db, fx.trail, entry, fx.nowMs),
      ],
    });
  });
}

async function readInvitation(fx: TeamEffects, seat: Seat, invitationId: string) {
  const actors = await readActors(fx, seat, { permission: "team:invite" });
  if (!actors.ok) return actors;
  const rows = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([
      selectInvitation(fx.db, seat.merchantId, invitationId),
      selectMailsOver(fx.db, seat.merchantId, fx.nowMs),
    ]),
  );
  if (!rows.ok) return rows;
  const [[invitation], [over]] = rows.value;
  return ok({ actor: actors.value.actor, invitation, mailsOver: over?.atMs });
}
