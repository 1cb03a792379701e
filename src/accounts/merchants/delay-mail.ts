// The mail to a team about a changed delay of wallet changes, because the delay protects where the money goes.
import { isoTime } from "../../lib/time.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { delayHoursAt, pendingDelay, type WalletChangeDelay } from "./wallet-change-delay.ts";

export interface DelayChange {
  readonly merchantName: string;
  /** The user who changed it, as named in the mail. */
  readonly author: string;
  readonly before: WalletChangeDelay;
  readonly after: WalletChangeDelay;
  readonly nowMs: number;
}

/** The mail to one OWNER or ADMIN. */
export function delayMail(change: DelayChange, to: string): Mail {
  const { merchantName, author, before, after, nowMs } = change;
  const pending = pendingDelay(after, nowMs);
  return composeMail({
    to,
    subject: `The wallet change delay of ${merchantName} was changed`,
    paragraphs: [
      `${author} changed the wallet change delay of ${merchantName} at ${isoTime(nowMs)}.`,
      `Before: ${described(before, nowMs)}`,
      `Now: ${described(after, nowMs)}`,
      pending === undefined
        ? "If you do not expect this change, sign in and check the members of the team."
        : `If you do not expect this change, sign in before ${isoTime(pending.fromMs)}, set the delay back to ${hours(delayHoursAt(after, nowMs))} and check the members of the team.`,
    ],
  });
}

function described(delay: WalletChangeDelay, nowMs: number): string {
  const pending = pendingDelay(delay, nowMs);
  const present = hours(delayHoursAt(delay, nowMs));
  return pending === undefined ? present : `${present}, and ${hours(pending.hours)} from ${isoTime(pending.fromMs)} on`;
}

function hours(count: number): string {
  return count === 1 ? "1 hour" : `${count} hours`;
}
