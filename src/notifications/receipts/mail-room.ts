// Receipts have daily limits: of a merchant to one mailbox, and in total. A receipt over a limit waits until there is room and is not lost. A
// team's own copies only have the second limit, counted separately from the customers': the team has asked for each of them.
import { sha256Hex } from "../../lib/bytes.ts";
import { countedMailboxOf } from "../../lib/email.ts";
import { DAY_MS } from "../../lib/time.ts";

/** Why a receipt waits: for each full limit, when the oldest counted mail went out; null while there is room. */
interface MailRoom {
  readonly merchantFullSinceMs: number | null;
  readonly mailboxFullSinceMs: number | null;
}

/** The key under which a customer's emails are counted: a hash, so that it does not identify an erased customer. */
export function mailboxOf(email: string): string {
  return sha256Hex(countedMailboxOf(email));
}

/** When there will be room. */
export function roomAtMs({ merchantFullSinceMs, mailboxFullSinceMs }: MailRoom, nowMs: number): number {
  const times = [merchantFullSinceMs, mailboxFullSinceMs].filter((each) => each !== null);
  return Math.max(nowMs, ...times.map((each) => each + DAY_MS));
}
