// An invitation to a team (Interface 2.3, 3.3): its status now, and whether a user may accept it.

import type { InvitationId, MemberId, MerchantId, UserId } from "../../lib/ids.ts";
import { DAY_MS, isoTime, isoTimeOrNull } from "../../lib/time.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Role } from "../roles/roles.ts";
import { mayInvite } from "../teams/rank.ts";
import type { User } from "../users/user.ts";

export const INVITATION_LIFETIME_MS = 7 * DAY_MS;

export const INVITATION_STATUSES = ["pending", "accepted", "expired", "revoked"] as const;
type InvitationStatus = (typeof INVITATION_STATUSES)[number];

export interface Invitation {
  readonly id: InvitationId;
  readonly merchantId: MerchantId;
  /** As the inviter typed it; `emailKey` is the same in lower case. */
  readonly email: string;
  readonly emailKey: string;
  readonly role: Exclude<Role, "OWNER">;
  /** SHA-256 of the token; only the email has the token itself. */
  readonly tokenHash: string;
  /** The user who last sent it; the invitation is valid only while their role may assign its role. */
  readonly invitedBy: UserId;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number;
  readonly acceptedAtMs: number | null;
  readonly acceptedBy: UserId | null;
  readonly revokedAtMs: number | null;
  /** When its newest email was sent; null if that email waits, or was not sent before the invitation ended. */
  readonly mailedAtMs: number | null;
  /** When the waiting email is due; null if no email waits. */
  readonly mailDueAtMs: number | null;
  /** Whether the email waits because of its mailbox's daily limit. */
  readonly waitsForMailbox: boolean;
}

/** An invitation with the facts on which its acceptance depends. */
export interface OfferedInvitation extends Invitation {
  readonly isMerchantLive: boolean;
  /** The inviter's current role; null if they are no longer a member. */
  readonly inviterRole: Role | null;
  /** The seat of the accepting user, if they are already a member. */
  readonly seatId: MemberId | null;
}

export function invitationStatus(invitation: Invitation, nowMs: number): InvitationStatus {
  if (invitation.acceptedAtMs !== null) return "accepted";
  if (invitation.revokedAtMs !== null) return "revoked";
  return nowMs < invitation.expiresAtMs ? "pending" : "expired";
}

/** Whether the invitation is neither accepted nor revoked; it may have expired. */
export function isOpen(invitation: Pick<Invitation, "acceptedAtMs" | "revokedAtMs">): boolean {
  return invitation.acceptedAtMs === null && invitation.revokedAtMs === null;
}

/**
 * Why `user` may not accept. Checked in this order, so that a user with neither token nor mailbox learns as little as possible. An invitation that
 * is used or revoked, whose merchant is deleted, or whose inviter could no longer send it is refused like an unknown one (decisions 9).
 */
export function acceptRefusal(
  offered: OfferedInvitation,
  user: Pick<User, "emailKey" | "isEmailVerified">,
  nowMs: number,
): Failure | undefined {
  if (!isOpen(offered) || !offered.isMerchantLive) return { code: "INVITATION_NOT_FOUND" };
  if (!user.isEmailVerified || user.emailKey !== offered.emailKey) return { code: "INVITATION_EMAIL_MISMATCH" };
  const { inviterRole } = offered;
  if (inviterRole === null || !mayInvite(inviterRole, offered.role)) return { code: "INVITATION_NOT_FOUND" };
  if (offered.seatId !== null) return { code: "ALREADY_MEMBER" };
  return nowMs < offered.expiresAtMs ? undefined : { code: "INVITATION_EXPIRED" };
}

/** An invitation for members of the team; never includes the token. */
export function invitationBodyOf(invitation: Invitation, nowMs: number) {
  const { id, merchantId, email, role, invitedBy, createdAtMs, expiresAtMs, acceptedAtMs, mailedAtMs } = invitation;
  return {
    id,
    merchantId,
    email,
    role,
    status: invitationStatus(invitation, nowMs),
    invitedBy,
    createdAt: isoTime(createdAtMs),
    expiresAt: isoTime(expiresAtMs),
    acceptedAt: isoTimeOrNull(acceptedAtMs),
    mailedAt: isoTimeOrNull(mailedAtMs),
  };
}

/** A pending invitation for its invitee, with the merchant's name and the inviter's address. */
interface WaitingInvitation extends Invitation {
  readonly merchantName: string;
  readonly inviterEmail: string;
}

export function waitingBodyOf(waiting: WaitingInvitation, nowMs: number) {
  const { merchantName, inviterEmail } = waiting;
  return { ...invitationBodyOf(waiting, nowMs), merchantName, inviterEmail };
}
