import { sha256Hex } from "../../lib/bytes.ts";
import { emailKeyOf } from "../../lib/email.ts";
import { derivedId, makeId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { batch } from "../../platform/db/batch.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import type { Role } from "../roles/roles.ts";
import { readActors, type TeamDependencies } from "../teams/change-team.ts";
import type { Member, Seat } from "../teams/member.ts";
import { mayInvite } from "../teams/rank.ts";
import { assertNoSeatOfEmail, assertSeat, selectSeatOfEmail } from "../teams/store.ts";
import { INVITATION_LIFETIME_MS, type Invitation, invitationBodyOf, invitationStatus } from "./invitation.ts";
import { type MailRoom, mailTimes } from "./mail-room.ts";
import { countMail, insertInvitation, selectMailRoom, selectOpenOf, updateInvitation } from "./store.ts";

interface NewInvitation {
  readonly seat: Seat;
  readonly email: string;
  readonly role: Role;
  /** New for this request; the batch stores its SHA-256. */
  readonly token: string;
}

interface Facts {
  readonly actor: Member;
  /** The open invitation to the same address, if any. */
  readonly present: Invitation | undefined;
  readonly isMember: boolean;
  readonly mailRoom: MailRoom;
}

/**
 * Invites a member, as work for `runOnce`. `sendInvitation` emails the invitation after the response. If a daily limit is reached, the invitation is
 * created anyway and the cron emails it later.
 */
export function inviteMember(deps: TeamDependencies, wanted: NewInvitation): Work {
  const { seat, email, role } = wanted;
  const { merchantId } = seat;
  const emailKey = emailKeyOf(email);
  return async (operationId, conflict): Promise<Prepared> => {
    throwUnlessContention("an invitation", conflict);
    // No role outranks OWNER (decisions 7).
    if (role === "OWNER") return { kind: "refused", failure: { code: "INSUFFICIENT_RANK" } };
    const id = makeId("tin", operationId);
    const read = await readFacts(deps, seat, emailKey);
    if (!read.ok) return { kind: "refused", failure: read.error };
    const facts = read.value;
    const { actor, present } = facts;
    const expired = present !== undefined && invitationStatus(present, deps.nowMs) === "expired" ? present : undefined;
    // Our own earlier batch may have committed. Then this one aborts because of its operation id, and the stored response is returned.
    const refusal = present?.id === id ? undefined : inviteRefusal(facts, role, deps.nowMs);
    if (refusal !== undefined) return { kind: "refused", failure: refusal };
    const mail = mailTimes(facts.mailRoom, deps.nowMs);
    const made = opened(wanted, emailKey, deps.nowMs);
    const invitation: Invitation = { ...made, id, role, invitedBy: actor.userId, ...mail };
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify(invitationBodyOf(invitation, deps.nowMs)),
      statements: [
        assertSeat(deps.db, actor),
        assertNoSeatOfEmail(deps.db, merchantId, emailKey),
        ...(mail.mailedAtMs === null
          ? []
          : countMail(deps.db, { merchantId, userId: actor.userId, emailKey, nowMs: deps.nowMs })),
        ...(expired === undefined ? [] : replaced(deps, expired, operationId)),
        insertInvitation(deps.db, invitation),
        insertAudit(
          deps.db,
          deps.trail,
          {
            id: derivedId("aud", operationId),
            merchantId,
            action: "team.invitation_created",
            target: id,
            after: { email, role },
          },
          deps.nowMs,
        ),
      ],
    };
  };
}

/** The columns of a new invitation, except its id, role, inviter and email times. */
function opened({ seat, email, token }: NewInvitation, emailKey: string, nowMs: number) {
  return {
    merchantId: seat.merchantId,
    email,
    emailKey,
    tokenHash: sha256Hex(token),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs + INVITATION_LIFETIME_MS,
    acceptedAtMs: null,
    acceptedBy: null,
    revokedAtMs: null,
  };
}

function inviteRefusal(facts: Facts, role: Role, nowMs: number): Failure | undefined {
  const { actor, present, isMember } = facts;
  if (!mayInvite(actor.role, role)) return { code: "INSUFFICIENT_RANK" };
  if (isMember) return { code: "ALREADY_MEMBER" };
  if (present !== undefined && invitationStatus(present, nowMs) === "pending")
    return { code: "INVITATION_EXISTS", invitationId: present.id };
  return undefined;
}

/** Revokes the expired invitation to the same address, because only one may be open. */
function replaced(deps: TeamDependencies, expired: Invitation, operationId: string) {
  const { id, merchantId, email, role } = expired;
  const auditId = derivedId("aud", operationId, 1);
  const entry = {
    id: auditId,
    merchantId,
    action: "team.invitation_revoked",
    target: id,
    after: { email, role },
  } as const;
  return [
    updateInvitation(deps.db, expired, { revokedAtMs: deps.nowMs }, deps.nowMs),
    insertAudit(deps.db, deps.trail, entry, deps.nowMs),
  ];
}

async function readFacts(deps: TeamDependencies, seat: Seat, emailKey: string): Promise<Result<Facts, Failure>> {
  const actors = await readActors(deps, seat, { permission: "team:invite" });
  if (!actors.ok) return actors;
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [
      selectOpenOf(deps.db, seat.merchantId, emailKey),
      selectSeatOfEmail(deps.db, seat.merchantId, emailKey),
      selectMailRoom(deps.db, {
        merchantId: seat.merchantId,
        userId: actors.value.actor.userId,
        emailKey,
        nowMs: deps.nowMs,
      }),
    ]),
  );
  if (!rows.ok) return rows;
  const [[present], seats, [mailRoom]] = rows.value;
  if (mailRoom === undefined) throw new Error("a select of one row returned no row");
  return ok({ actor: actors.value.actor, present, isMember: seats.length > 0, mailRoom });
}
