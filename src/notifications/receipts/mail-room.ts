// Receipts are limited by the day: of a merchant to one mailbox, and in all. One past a limit waits until there is room and is not lost. A team's
// own copies have only the second limit, counted apart from the customers': the team has asked for each of them.
import { sha256Hex } from "../../lib/bytes.ts";
import { emailKeyOf } from "../../lib/email.ts";
import { DAY_MS } from "../../lib/time.ts";

/** What keeps a receipt waiting: when the oldest of as many others as a day has went out; null while there is room. */
export interface MailRoom {
  readonly merchantFullSinceMs: number | null;
  readonly mailboxFullSinceMs: number | null;
}

/** The key by which a customer's mails are counted: it does not name a customer who is erased meanwhile. */
export function mailboxOf(email: string): string {
  return sha256Hex(emailKeyOf(email));
}

/** When there is room. */
export function roomAtMs({ merchantFullSinceMs, mailboxFullSinceMs }: MailRoom, nowMs: number): number {
  const times = [merchantFullSinceMs, mailboxFullSinceMs].filter((each) => each !== null);
  return Math.max(nowMs, ...times.map((each) => each + DAY_MS));
}
