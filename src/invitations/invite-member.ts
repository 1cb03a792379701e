import { insertAudit } from "../audit/store.ts";
import { isConflictOn } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { emailKeyOf } from "../lib/email.ts";
import { derivedId, makeId } from "../lib/ids.ts";
import { ok, type Result } from "../lib/result.ts";
import { readActors, type TeamEffects } from "../teams/change-team.ts";
import type { Member, Seat } from "../teams/member.ts";
import { mayInvite } from "../teams/rank.ts";
import type { Role } from "../teams/roles.ts";
import { assertNoSeatOfEmail, assertSeat, selectSeatOfEmail } from "../teams/store.ts";
import {
  INVITATION_LIFETIME_MS,
  type Invitation,
  invitationBodyOf,
  invitationStatus,
  mailsRefusal,
} from "./invitation.ts";
import { assertMailsLeft, insertInvitation, selectMailsOver, selectOpenOf, updateInvitation } from "./store.ts";

export interface NewInvitation {
  readonly seat: Seat;
  readonly email: string;
  readonly role: Role;
  /** Of this request alone; the batch holds its SHA-256. */
  readonly token: string;
}

interface Facts {
  readonly actor: Member;
  /** The open invitation of the same address, if any. */
  readonly present: Invitation | undefined;
  readonly isMember: boolean;
  readonly mailsOver: number | undefined;
}

/** The work of one invitation, for `runOnce`. The mail is no part of it: `sendInvitation` follows the answer. */
export function inviteMember(fx: TeamEffects, wanted: NewInvitation): Work {
  const { seat, email, role, token } = wanted;
  const { merchantId } = seat;
  const emailKey = emailKeyOf(email);
  return async (operationId, conflict): Promise<Prepared> => {
    if (conflict !== undefined && conflict.kind !== "assertion" && !isConflictOn(conflict, "invitations", PENDING_KEY))
      throw new Error(`an invitation met a key of ${conflict.table}`);
    // Nobody outranks an OWNER (decisions 7).
    if (role === "OWNER") return { kind: "refused", failure: { code: "INSUFFICIENT_RANK" } };
    const id = makeId("tin", operationId);
    const read = await readFacts(fx, seat, emailKey);
    if (!read.ok) return { kind: "refused", failure: read.error };
    const facts = read.value;
    const { actor, present } = facts;
    const expired = present !== undefined && invitationStatus(present, fx.nowMs) === "expired" ? present : undefined;
    // Our own earlier batch may stand already: then this one aborts on its operation id and the stored answer is given.
    const refusal = present?.id === id ? undefined : inviteRefusal(facts, role, fx.nowMs);
    if (refusal !== undefined) return { kind: "refused", failure: refusal };
    const invitation: Invitation = {
      ...{ id, merchantId, email, emailKey, role, tokenHash: sha256Hex(token), invitedBy: actor.userId },
      ...{ createdAtMs: fx.nowMs, updatedAtMs: fx.nowMs, expiresAtMs: fx.nowMs + INVITATION_LIFETIME_MS },
      ...{ acceptedAtMs: null, acceptedBy: null, revokedAtMs: null },
    };
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify(invitationBodyOf(invitation, fx.nowMs)),
      statements: [
        assertSeat(fx.db, actor),
        assertNoSeatOfEmail(fx.db, merchantId, emailKey),
        assertMailsLeft(fx.db, merchantId, fx.nowMs),
        ...(expired === undefined ? [] : replaced(fx, expired, operationId)),
        insertInvitation(fx.db, invitation),
        insertAudit(
          fx.db,
          fx.trail,
          {
            id: derivedId("aud", operationId),
            merchantId,
            action: "team.invitation_created",
            target: id,
            after: { email, role },
          },
          fx.nowMs,
        ),
      ],
    };
  };
}

const PENDING_KEY = ["merchant_id", "email_key"] as const;

function inviteRefusal(facts: Facts, role: Role, nowMs: number): Failure | undefined {
  const { actor, present, isMember, mailsOver } = facts;
  if (!mayInvite(actor.role, role)) return { code: "INSUFFICIENT_RANK" };
  if (isMember) return { code: "ALREADY_MEMBER" };
  if (present !== undefined && invitationStatus(present, nowMs) === "pending")
    return { code: "INVITATION_EXISTS", invitationId: present.id };
  return mailsRefusal(mailsOver, nowMs);
}

/** An expired invitation makes room for the new one of its address. */
function replaced(fx: TeamEffects, expired: Invitation, operationId: string) {
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
    updateInvitation(fx.db, expired, { revokedAtMs: fx.nowMs }, fx.nowMs),
    insertAudit(fx.db, fx.trail, entry, fx.nowMs),
  ];
}

async function readFacts(fx: TeamEffects, seat: Seat, emailKey: string): Promise<Result<Facts, Failure>> {
  const actors = await readActors(fx, seat, { permission: "team:invite" });
  if (!actors.ok) return actors;
  const rows = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([
      selectOpenOf(fx.db, seat.merchantId, emailKey),
      selectSeatOfEmail(fx.db, seat.merchantId, emailKey),
      selectMailsOver(fx.db, seat.merchantId, fx.nowMs),
    ]),
  );
  if (!rows.ok) return rows;
  const [[present], seats, [over]] = rows.value;
  return ok({ actor: actors.value.actor, present, isMember: seats.length > 0, mailsOver: over?.atMs });
}
