// Invitation emails have daily limits per merchant, per sending user and per mailbox; invitations have none. An email over a limit waits until the
// limit allows it. If the sender's or the merchant's limit is the reason, it waits behind the sender's other waiting emails; if the mailbox's limit
// is the reason, behind the other emails to that mailbox. Neither queue blocks the other.
import { LIMITS } from "../../lib/limits.ts";
import { DAY_MS } from "../../lib/time.ts";

const USER_SPACING_MS = DAY_MS / LIMITS.invitationMailsPerUserAndDay;
const MERCHANT_SPACING_MS = DAY_MS / LIMITS.invitationMailsPerMerchantAndDay;
const MAILBOX_SPACING_MS = DAY_MS / LIMITS.invitationMailsPerMailboxAndDay;

/** The state of the limits of an email, as read: times in milliseconds, null without a limit. */
export interface MailRoom {
  /** When the oldest mail that fills the merchant's daily limit was sent; null while the limit is not reached. */
  readonly merchantFullSinceMs: number | null;
  /** The same for the sender. */
  readonly userFullSinceMs: number | null;
  /** The same for the mailbox. */
  readonly mailboxFullSinceMs: number | null;
  /** When the last email that is waiting because of the merchant's or its sender's limit is due. */
  readonly merchantLastDueMs: number | null;
  /** The same for the sender's emails. */
  readonly userLastDueMs: number | null;
  /** When the last email that is waiting because of the mailbox's limit is due. */
  readonly mailboxLastDueMs: number | null;
}

/** One of the two times is null. */
export interface MailTimes {
  readonly mailedAtMs: number | null;
  readonly mailDueAtMs: number | null;
  /** Whether the email waits in the mailbox's queue; otherwise in the sender's. */
  readonly waitsForMailbox: boolean;
}

/** Whether an email is sent now, or when it is due. */
export function mailTimes(room: MailRoom, nowMs: number): MailTimes {
  const { merchantFullSinceMs, mailboxFullSinceMs } = room;
  const ofSender = [
    ...dayAfter(merchantFullSinceMs),
    ...dayAfter(room.userFullSinceMs),
    ...(merchantFullSinceMs === null ? [] : afterLast(room.merchantLastDueMs, MERCHANT_SPACING_MS, nowMs)),
    ...afterLast(room.userLastDueMs, USER_SPACING_MS, nowMs),
  ];
  const ofMailbox = [...dayAfter(mailboxFullSinceMs), ...afterLast(room.mailboxLastDueMs, MAILBOX_SPACING_MS, nowMs)];
  if (ofSender.length === 0 && ofMailbox.length === 0)
    return { mailedAtMs: nowMs, mailDueAtMs: null, waitsForMailbox: false };
  return waiting(Math.max(nowMs, ...ofSender), Math.max(nowMs, ...ofMailbox));
}

/** The new due time of a waiting email whose limit is reached again, because other emails were sent meanwhile. Null if it can be sent. */
export function postponed(room: MailRoom): Omit<MailTimes, "mailedAtMs"> | null {
  const ofSender = [...dayAfter(room.merchantFullSinceMs), ...dayAfter(room.userFullSinceMs)];
  const ofMailbox = dayAfter(room.mailboxFullSinceMs);
  if (ofSender.length === 0 && ofMailbox.length === 0) return null;
  const { mailDueAtMs, waitsForMailbox } = waiting(Math.max(0, ...ofSender), Math.max(0, ...ofMailbox));
  return { mailDueAtMs, waitsForMailbox };
}

/** Puts the email into the longer queue, so that it does not lengthen the other. */
function waiting(senderMs: number, mailboxMs: number): MailTimes {
  return {
    mailedAtMs: null,
    mailDueAtMs: Math.ceil(Math.max(senderMs, mailboxMs)),
    waitsForMailbox: mailboxMs > senderMs,
  };
}

function dayAfter(fullSinceMs: number | null): readonly number[] {
  return fullSinceMs === null ? [] : [fullSinceMs + DAY_MS];
}

/** The time after the last email of a queue; empty for an empty queue. */
function afterLast(lastDueMs: number | null, spacingMs: number, nowMs: number): readonly number[] {
  return lastDueMs === null || lastDueMs <= nowMs ? [] : [lastDueMs + spacingMs];
}
