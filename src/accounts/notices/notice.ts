// Mails to a team about repeated actions: at most one in ten minutes for each kind, thing and actor. The first goes out at once; those that
// follow within ten minutes are joined in one mail, with the count. What is not listed here is never joined: registered, rotated and deleted
// wallets, links of mails, codes, factors, keys. Switching a wallet on is a kind of its own, so that the first time is mailed at once even
// after other changes.
import { LIMITS } from "../../lib/limits.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export const NOTICE_WINDOW_MS = LIMITS.minutesBetweenNotices * MINUTE_MS;

export type NoticeKind = "WALLET_ENABLED" | "WALLET_SETTINGS" | "ENDPOINT_DISABLED";

/** `once more`, `14 more times`. */
export function moreTimes(count: number): string {
  return count === 1 ? "once more" : `${count} more times`;
}
