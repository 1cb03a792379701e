// An invitation to a team (Interface 2.3, 3.3): what it is now, and whether a person may accept it.
import type { Failure } from "../failures.ts";
import type { InvitationId, MemberId, MerchantId, UserId } from "../lib/ids.ts";
import { DAY_MS, isoTime, SECOND_MS } from "../lib/time.ts";
import { mayInvite } from "../teams/rank.ts";
import type { Role } from "../teams/roles.ts";
import type { Person } from "../users/person.ts";

export const INVITATION_LIFETIME_MS = 7 * DAY_MS;
/** Mails of one merchant in a day, sent and sent anew (security.md 3). */
export const MAILS_A_DAY = 500;

export const INVITATION_STATUSES = ["pending", "accepted", "expired", "revoked"] as const;
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

export interface Invitation {
  readonly id: InvitationId;
  readonly merchantId: MerchantId;
  /** As it was written; `emailKey` is it in lower case. */
  readonly email: string;
  readonly emailKey: string;
  readonly role: Exclude<Role, "OWNER">;
  /** SHA-256 of the token; the token itself is in the mail alone. */
  readonly tokenHash: string;
  /** Whoever sent it last: their rank vouches for it. */
  readonly invitedBy: UserId;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number;
  readonly acceptedAtMs: number | null;
  readonly acceptedBy: UserId | null;
  readonly revokedAtMs: number | null;
}

/** An invitation as its invitee meets it. */
export interface OfferedInvitation extends Invitation {
  readonly isMerchantLive: boolean;
  /** The role of the inviter now; null when they are no member any more. */
  readonly inviterRole: Role | null;
  /** The seat of the person who asks, where they are a member already. */
  readonly seatId: MemberId | null;
}

export function invitationStatus(invitation: Invitation, nowMs: number): InvitationStatus {
  if (invitation.acceptedAtMs !== null) return "accepted";
  if (invitation.revokedAtMs !== null) return "revoked";
  return nowMs < invitation.expiresAtMs ? "pending" : "expired";
}

/** Whether it waits for its invitee still, or for being sent anew. */
export function isOpen(invitation: Pick<Invitation, "acceptedAtMs" | "revokedAtMs">): boolean {
  return invitation.acceptedAtMs === null && invitation.revokedAtMs === null;
}

/**
 * Why `person` may not accept: in this order, so that whoever holds neither token nor mailbox learns least. Used, revoked, of a deleted
 * merchant, or of an inviter who could not invite so today: the same as unknown (decisions 9).
 */
export function acceptRefusal(
  offered: OfferedInvitation,
  person: Pick<Person, "emailKey" | "isEmailVerified">,
  nowMs: number,
): Failure | undefined {
  if (!isOpen(offered) || !offered.isMerchantLive) return { code: "INVITATION_NOT_FOUND" };
  if (!person.isEmailVerified || person.emailKey !== offered.emailKey) return { code: "INVITATION_EMAIL_MISMATCH" };
  const { inviterRole } = offered;
  if (inviterRole === null || !mayInvite(inviterRole, offered.role)) return { code: "INVITATION_NOT_FOUND" };
  if (offered.seatId !== null) return { code: "ALREADY_MEMBER" };
  return nowMs < offered.expiresAtMs ? undefined : { code: "INVITATION_EXPIRED" };
}

/** `newestOver`: when the mail that fills the day's number was sent; undefined while there is room. */
export function mailsRefusal(newestOver: number | undefined, nowMs: number): Failure | undefined {
  if (newestOver === undefined) return undefined;
  return {
    code: "RATE_LIMITED",
    retryAfterSeconds: Math.max(1, Math.ceil((newestOver + DAY_MS - nowMs) / SECOND_MS)),
  };
}

/** What the members of the team see; never the token. */
export function invitationBodyOf(invitation: Invitation, nowMs: number) {
  const { id, merchantId, email, role, invitedBy, createdAtMs, expiresAtMs, acceptedAtMs } = invitation;
  return {
    id,
    merchantId,
    email,
    role,
    status: invitationStatus(invitation, nowMs),
    invitedBy,
    createdAt: isoTime(createdAtMs),
    expiresAt: isoTime(expiresAtMs),
    acceptedAt: acceptedAtMs === null ? null : isoTime(acceptedAtMs),
  };
}

/** What waits for a person, with the names that let them decide. */
export interface WaitingInvitation extends Invitation {
  readonly merchantName: string;
  readonly inviterEmail: string;
}

export function waitingBodyOf(waiting: WaitingInvitation, nowMs: number) {
  const { merchantName, inviterEmail } = waiting;
  return { ...invitationBodyOf(waiting, nowMs), merchantName, inviterEmail };
}
