import { sha256Hex } from "../../lib/bytes.ts";
import { derivedId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { changeTeam, readActors, type TeamDependencies } from "../teams/change-team.ts";
import type { Seat } from "../teams/member.ts";
import { isProtectedRole, mayInvite } from "../teams/rank.ts";
import { assertSeat } from "../teams/store.ts";
import { INVITATION_LIFETIME_MS, type Invitation, isOpen } from "./invitation.ts";
import { mailTimes } from "./mail-room.ts";
import { type MailDependencies, sendInvitation } from "./send-invitation.ts";
import { assertOpen, countMail, selectInvitation, selectMailRoom, updateInvitation } from "./store.ts";

/**
 * Gives an open invitation, expired or not, a new token and another 7 days; the old link stops working. The user who resends it becomes its inviter,
 * and must be allowed to assign its role. `stepUp`: why this user may not grant a protected role; undefined if they may. Resending counts as granting
 * the role again, because the invitation may have expired. If a daily limit is reached, the cron sends the email later.
 */
export async function resendInvitation(
  deps: TeamDependencies & MailDependencies,
  seat: Seat,
  of: { readonly invitationId: string; readonly token: string; readonly stepUp: Failure | undefined },
): Promise<Result<Invitation, Failure>> {
  const read = () => readInvitation(deps, seat, of.invitationId);
  return changeTeam(deps, read, ({ actor, invitation, mailRoom }, operationId) => {
    if (invitation === undefined || !isOpen(invitation)) return err({ code: "INVITATION_NOT_FOUND" });
    if (!mayInvite(actor.role, invitation.role)) return err({ code: "INSUFFICIENT_RANK" });
    const { id, merchantId, email, emailKey, role } = invitation;
    if (isProtectedRole(role) && of.stepUp !== undefined) return err(of.stepUp);
    const changes = {
      tokenHash: sha256Hex(of.token),
      invitedBy: actor.userId,
      expiresAtMs: deps.nowMs + INVITATION_LIFETIME_MS,
      ...mailTimes(mailRoom, deps.nowMs),
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
        assertSeat(deps.db, actor),
        assertOpen(deps.db, invitation),
        ...(changes.mailedAtMs === null
          ? []
          : countMail(deps.db, { merchantId, userId: actor.userId, emailKey, nowMs: deps.nowMs })),
        updateInvitation(deps.db, invitation, changes, deps.nowMs),
        insertAudit(deps.db, deps.trail, entry, deps.nowMs),
      ],
      afterwards: () => sendInvitation(deps, of.token),
    });
  });
}

async function readInvitation(deps: TeamDependencies, seat: Seat, invitationId: string) {
  const actors = await readActors(deps, seat, { permission: "team:invite" });
  if (!actors.ok) return actors;
  const { merchantId } = seat;
  const found = await readWithRetry(deps.sleep, async () => selectInvitation(deps.db, merchantId, invitationId));
  if (!found.ok) return found;
  const [invitation] = found.value;
  const { actor } = actors.value;
  const mail = { merchantId, userId: actor.userId, emailKey: invitation?.emailKey ?? "", nowMs: deps.nowMs };
  const rooms = await readWithRetry(deps.sleep, async () => selectMailRoom(deps.db, mail));
  if (!rooms.ok) return rooms;
  const [mailRoom] = rooms.value;
  if (mailRoom === undefined) throw new Error("a select of one row returned no row");
  return ok({ actor, invitation, mailRoom });
}
