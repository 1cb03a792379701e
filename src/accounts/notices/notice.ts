// Emails to a team about repeated actions: at most one in ten minutes per kind, resource and actor. The first is sent at once; later ones within ten
// minutes are combined into one email with their number. Kinds that are not listed here are never combined: registered, rotated and deleted wallets,
// links in emails, codes, factors, keys. Enabling a wallet is a separate kind, so that the first time is emailed at once even after other changes.
import { LIMITS } from "../../lib/limits.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export const NOTICE_WINDOW_MS = LIMITS.minutesBetweenNotices * MINUTE_MS;

export type NoticeKind = "WALLET_ENABLED" | "WALLET_SETTINGS" | "ENDPOINT_DISABLED" | "INVOICE_MARKED";

/** `once more`, `14 more times`. */
export function moreTimes(count: number): string {
  return count === 1 ? "once more" : `${count} more times`;
}
