// How many codes are mailed for one caller (security.md 3): 5 an hour to one address, 20 in all. Counted from the codes themselves, so that
// the limit outlives memory; known and unknown addresses count alike.
import { HOUR_MS } from "../lib/time.ts";

export const MAIL_WINDOW_MS = HOUR_MS;
export const MAILS_PER_ADDRESS = 5;
export const MAILS_PER_CALLER = 20;

export interface SentCode {
  readonly emailKey: string;
  readonly createdAtMs: number;
}

/** How long the caller must wait before another code goes to `emailKey`; 0 when it may go now. `sent`: the caller's codes, in any order. */
export function mailWaitMs(sent: readonly SentCode[], emailKey: string, nowMs: number): number {
  const toAddress = sent.filter((code) => code.emailKey === emailKey);
  return Math.max(waitMs(toAddress, MAILS_PER_ADDRESS, nowMs), waitMs(sent, MAILS_PER_CALLER, nowMs));
}

/** Until the `limit`-th newest leaves the window. */
function waitMs(sent: readonly SentCode[], limit: number, nowMs: number): number {
  const times = sent.map((code) => code.createdAtMs).toSorted((a, b) => b - a);
  const decisive = times[limit - 1];
  return decisive === undefined ? 0 : Math.max(0, decisive + MAIL_WINDOW_MS - nowMs);
}
