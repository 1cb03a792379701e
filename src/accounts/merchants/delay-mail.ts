// The mail to a team when the delay of wallet changes is changed: the delay protects where money goes.
import { isoTime } from "../../lib/time.ts";
import { composeMail } from "../../platform/mail/compose.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { delayHoursAt, pendingDelay, type WalletChangeDelay } from "./wallet-change-delay.ts";

export interface DelayNews {
  readonly merchantName: string;
  /** As the mail names who changed it. */
  readonly author: string;
  readonly before: WalletChangeDelay;
  readonly after: WalletChangeDelay;
  readonly nowMs: number;
}

/** The mail to one OWNER or ADMIN. */
export function delayMail(news: DelayNews, to: string): Mail {
  const { merchantName, author, before, after, nowMs } = news;
  const pending = pendingDelay(after, nowMs);
  return composeMail({
    to,
    subject: `The delay of wallet changes of ${merchantName} was changed`,
    paragraphs: [
      `The delay of wallet changes of ${merchantName} was changed by ${author} at ${isoTime(nowMs)}.`,
      `Before: ${described(before, nowMs)}`,
      `Now: ${described(after, nowMs)}`,
      pending === undefined
        ? "If you do not expect this, sign in and check who belongs to the team."
        : `If you do not expect this, sign in before ${isoTime(pending.fromMs)}, set the delay to ${hours(delayHoursAt(after, nowMs))} again and check who belongs to the team.`,
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
