// Invitation mails are limited by the day, for each merchant, for each user who sends them and for each mailbox; invitations are not. A mail
// past a limit waits until the limit allows it: behind the sender's other waiting mails where the sender's limit or the merchant's holds it
// back, and behind those to the same mailbox where the mailbox's does. Neither queue blocks the other.
import { LIMITS } from "../../lib/limits.ts";
import { DAY_MS } from "../../lib/time.ts";

const PERSON_SPACING_MS = DAY_MS / LIMITS.invitationMailsPerUserAndDay;
const MERCHANT_SPACING_MS = DAY_MS / LIMITS.invitationMailsPerMerchantAndDay;
const MAILBOX_SPACING_MS = DAY_MS / LIMITS.invitationMailsPerMailboxAndDay;

/** What limits a mail, as it was read: times in milliseconds, null where nothing limits it. */
export interface MailRoom {
  /** When the oldest of as many mails as the merchant has in a day went out; null while there is room. */
  readonly merchantFullSinceMs: number | null;
  /** The same of the sender. */
  readonly userFullSinceMs: number | null;
  /** The same of the mailbox. */
  readonly mailboxFullSinceMs: number | null;
  /** When the last of the merchant's mails is due that wait for its limit or their sender's. */
  readonly merchantLastDueMs: number | null;
  /** The same of the sender's. */
  readonly userLastDueMs: number | null;
  /** When the last of those is due that wait for the mailbox. */
  readonly mailboxLastDueMs: number | null;
}

/** One of the two times is null. */
export interface MailTimes {
  readonly mailedAtMs: number | null;
  readonly mailDueAtMs: number | null;
  /** In which of the two queues it waits. */
  readonly waitsForMailbox: boolean;
}

/** Whether a mail goes out now, or when it is due. */
export function mailTimes(room: MailRoom, nowMs: number): MailTimes {
  const { merchantFullSinceMs, mailboxFullSinceMs } = room;
  const ofSender = [
    ...dayAfter(merchantFullSinceMs),
    ...dayAfter(room.userFullSinceMs),
    ...(merchantFullSinceMs === null ? [] : behind(room.merchantLastDueMs, MERCHANT_SPACING_MS, nowMs)),
    ...behind(room.userLastDueMs, PERSON_SPACING_MS, nowMs),
  ];
  const ofMailbox = [...dayAfter(mailboxFullSinceMs), ...behind(room.mailboxLastDueMs, MAILBOX_SPACING_MS, nowMs)];
  if (ofSender.length === 0 && ofMailbox.length === 0)
    return { mailedAtMs: nowMs, mailDueAtMs: null, waitsForMailbox: false };
  return waiting(Math.max(nowMs, ...ofSender), Math.max(nowMs, ...ofMailbox));
}

/** The new due time of a mail that finds no room after all, because others went out meanwhile. Null where it finds room. */
export function postponed(room: MailRoom): Omit<MailTimes, "mailedAtMs"> | null {
  const ofSender = [...dayAfter(room.merchantFullSinceMs), ...dayAfter(room.userFullSinceMs)];
  const ofMailbox = dayAfter(room.mailboxFullSinceMs);
  if (ofSender.length === 0 && ofMailbox.length === 0) return null;
  const { mailDueAtMs, waitsForMailbox } = waiting(Math.max(0, ...ofSender), Math.max(0, ...ofMailbox));
  return { mailDueAtMs, waitsForMailbox };
}

/** It waits in the longer queue, so that it does not lengthen the other. */
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

/** Behind the last mail of a queue that is not empty yet. */
function behind(lastDueMs: number | null, spacingMs: number, nowMs: number): readonly number[] {
  return lastDueMs === null || lastDueMs <= nowMs ? [] : [lastDueMs + spacingMs];
}
