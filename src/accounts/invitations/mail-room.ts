// Invitation emails have daily limits per merchant, per sending user and per mailbox; invitations have none. An email that exceeds a limit waits
// until the limit allows it. If the sender's or the merchant's limit is the reason, it waits behind the sender's other waiting emails; if the
// mailbox's limit is the reason, behind the other emails to that mailbox. Neither queue blocks the other.
import { LIMITS } from "../../lib/limits.ts";
import { DAY_MS } from "../../lib/time.ts";

const USER_SPACING_MS = DAY_MS / LIMITS.invitationMailsPerUserAndDay;
const MERCHANT_SPACING_MS = DAY_MS / LIMITS.invitationMailsPerMerchantAndDay;
const MAILBOX_SPACING_MS = DAY_MS / LIMITS.invitationMailsPerMailboxAndDay;

/**
 * The state of the limits that apply to one email. Each of the times is null if its limit is not reached, or if no email is waiting because of it.
 */
export interface MailRoom {
  /** When the oldest email that counts against the merchant's daily limit was sent; null while the limit is not reached. */
  readonly merchantFullSinceMs: number | null;
  /** When the oldest email that counts against the sender's daily limit was sent; null while it is not reached. */
  readonly userFullSinceMs: number | null;
  /** When the oldest email that counts against the mailbox's daily limit was sent; null while it is not reached. */
  readonly mailboxFullSinceMs: number | null;
  /** When the last of the merchant's emails that wait because of the merchant's or a sender's limit is due. */
  readonly merchantLastDueMs: number | null;
  /** When the last of the sender's emails that wait because of the merchant's or the sender's limit is due. */
  readonly userLastDueMs: number | null;
  /** When the last email to this address that waits because of the mailbox's limit is due. */
  readonly mailboxLastDueMs: number | null;
}

/** When an email was sent or is due; one of the two times is null. */
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

/** Puts the email into the queue with the later due time, so that it does not delay the emails in the other queue. */
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

/** When an email added after the last one in a queue is due, as a list; empty if the queue is empty, or if its last email is already due. */
function afterLast(lastDueMs: number | null, spacingMs: number, nowMs: number): readonly number[] {
  return lastDueMs === null || lastDueMs <= nowMs ? [] : [lastDueMs + spacingMs];
}
