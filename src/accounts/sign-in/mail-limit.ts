// How many codes are mailed: for one caller 5 an hour to one address and 20 in all; for the /48 around an IPv6 caller as many as for four; to
// one address 30 sign-in codes a day from all callers. A browser that has signed in to the address before is counted apart, by its own proof.
// Counted from the stored codes, so that the limit survives a restart; known and unknown addresses count alike. Each purpose has its own
// count: a code for a step-up goes to a user who is signed in already, and one who works on wallets for an hour needs a dozen.

import { LIMITS } from "../../lib/limits.ts";
import { DAY_MS, HOUR_MS } from "../../lib/time.ts";
import type { CodePurpose } from "./email-code.ts";

export const MAIL_WINDOW_MS = HOUR_MS;
export const MAILS_PER_CALLER = LIMITS.signInCodesPerNetworkAndHour;
export const MAILS_PER_ADDRESS: Readonly<Record<CodePurpose, number>> = {
  SIGN_IN: LIMITS.signInCodesPerAddressAndNetworkAndHour,
  SECOND_FACTOR: LIMITS.signInCodesPerAddressAndNetworkAndHour,
  STEP_UP: MAILS_PER_CALLER,
};

/** Of sign-in codes: a caller who asks for one has proved nothing. */
export const ADDRESS_WINDOW_MS = DAY_MS;
export const MAILS_TO_ADDRESS = LIMITS.signInCodesPerAddressAndDay;

/** Of codes that known browsers ask for: each alone, and all of an address together, since each sign-in makes a new proof. */
export const MAILS_PER_KNOWN_BROWSER = LIMITS.signInCodesPerKnownBrowserAndHour;
export const MAILS_FOR_KNOWN_BROWSERS = LIMITS.signInCodesForKnownBrowsersPerAddressAndHour;

export interface SentCode {
  readonly emailKey: string;
  readonly createdAtMs: number;
}

/**
 * How long a caller must wait before another code goes out; 0 when it may go now. `sent`: the codes of `purpose` of the caller's network, in any
 * order; `times`: as how many callers that network counts.
 */
export function mailWaitMs(
  sent: readonly SentCode[],
  of: { readonly purpose: CodePurpose; readonly emailKey: string; readonly times: number },
  nowMs: number,
): number {
  const toAddress = sent.filter((code) => code.emailKey === of.emailKey);
  const window = { ms: MAIL_WINDOW_MS, nowMs };
  return Math.max(
    waitMs(toAddress, MAILS_PER_ADDRESS[of.purpose] * of.times, window),
    waitMs(sent, MAILS_PER_CALLER * of.times, window),
  );
}

/** The same for the address, for all callers together. `sent`: the counted sign-in codes that went to it, in any order. */
export function addressWaitMs(sent: readonly Pick<SentCode, "createdAtMs">[], nowMs: number): number {
  return waitMs(sent, MAILS_TO_ADDRESS, { ms: ADDRESS_WINDOW_MS, nowMs });
}

/** The same of a browser that is known. `sent`: the codes that known browsers asked for to the address, in any order. */
export function knownBrowserWaitMs(
  sent: readonly { readonly knownBrowser: string | null; readonly createdAtMs: number }[],
  browser: string,
  nowMs: number,
): number {
  const window = { ms: MAIL_WINDOW_MS, nowMs };
  const own = sent.filter(({ knownBrowser }) => knownBrowser === browser);
  return Math.max(waitMs(own, MAILS_PER_KNOWN_BROWSER, window), waitMs(sent, MAILS_FOR_KNOWN_BROWSERS, window));
}

/** Until the `limit`-th newest leaves the window. */
function waitMs(
  sent: readonly Pick<SentCode, "createdAtMs">[],
  limit: number,
  window: { readonly ms: number; readonly nowMs: number },
): number {
  const times = sent.map((code) => code.createdAtMs).toSorted((a, b) => b - a);
  const decisive = times[limit - 1];
  return decisive === undefined ? 0 : Math.max(0, decisive + window.ms - window.nowMs);
}
