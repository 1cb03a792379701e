// How many codes are mailed for one caller (security.md 3): 5 an hour to one address, 20 in all. Counted from the codes themselves, so that
// the limit outlives memory; known and unknown addresses count alike. Each purpose has a count of its own: a code for a step-up goes to
// whoever is signed in already, and somebody who works on wallets for an hour needs a dozen.

import { HOUR_MS } from "../lib/time.ts";
import type { CodePurpose } from "./email-code.ts";

export const MAIL_WINDOW_MS = HOUR_MS;
export const MAILS_PER_CALLER = 20;
export const MAILS_PER_ADDRESS: Readonly<Record<CodePurpose, number>> = {
  SIGN_IN: 5,
  SECOND_FACTOR: 5,
  STEP_UP: MAILS_PER_CALLER,
};

export interface SentCode {
  readonly emailKey: string;
  readonly createdAtMs: number;
}

/** How long the caller must wait before another code goes out; 0 when it may go now. `sent`: the caller's codes of `purpose`, in any order. */
export function mailWaitMs(
  sent: readonly SentCode[],
  { purpose, emailKey }: { readonly purpose: CodePurpose; readonly emailKey: string },
  nowMs: number,
): number {
  const toAddress = sent.filter((code) => code.emailKey === emailKey);
  return Math.max(waitMs(toAddress, MAILS_PER_ADDRESS[purpose], nowMs), waitMs(sent, MAILS_PER_CALLER, nowMs));
}

/** Until the `limit`-th newest leaves the window. */
function waitMs(sent: readonly SentCode[], limit: number, nowMs: number): number {
  const times = sent.map((code) => code.createdAtMs).toSorted((a, b) => b - a);
  const decisive = times[limit - 1];
  return decisive === undefined ? 0 : Math.max(0, decisive + MAIL_WINDOW_MS - nowMs);
}
