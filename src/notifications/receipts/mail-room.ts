// Receipts have daily limits: per mailbox of each merchant, and in total per merchant. A receipt that exceeds a limit is not lost: it waits until the
// limit allows it. A team's own copies have only the second limit, counted separately from the customers' receipts, because the team has asked for
// each of them.
import { sha256Hex } from "../../lib/bytes.ts";
import { countedMailboxOf } from "../../lib/email.ts";
import { DAY_MS } from "../../lib/time.ts";

/**
 * The limits that a receipt must wait for. For each limit that is reached, the time at which the oldest counted email was sent; null for one that is
 * not reached.
 */
interface MailRoom {
  readonly merchantFullSinceMs: number | null;
  readonly mailboxFullSinceMs: number | null;
}

/** The key under which a customer's emails are counted. It is a hash, so that it does not identify a customer who was erased. */
export function mailboxOf(email: string): string {
  return sha256Hex(countedMailboxOf(email));
}

/** When the limits allow another email. */
export function roomAtMs({ merchantFullSinceMs, mailboxFullSinceMs }: MailRoom, nowMs: number): number {
  const times = [merchantFullSinceMs, mailboxFullSinceMs].filter((each) => each !== null);
  return Math.max(nowMs, ...times.map((each) => each + DAY_MS));
}
