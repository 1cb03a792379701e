// Limits on emailed codes. One caller can request 5 an hour to one address (20 for a step-up) and 20 in total; the /48 around an IPv6 caller, four
// times as many. One address gets at most 30 sign-in codes a day from all callers; all spellings of a mailbox count as one address. A browser that
// has signed in to the address before has a separate limit, by its proof, and callers from a network that has signed in to it are exempt from the 30.
// The stored codes are counted, so that a limit survives a restart; addresses with and without an account count alike. Each purpose is counted
// separately: codes for a step-up go to a signed-in user, who may need a dozen while working on wallets for an hour.

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

/** The window of the limit per address. It covers only sign-in codes, because their callers are not authenticated. */
export const ADDRESS_WINDOW_MS = DAY_MS;
export const MAILS_TO_ADDRESS = LIMITS.signInCodesPerAddressAndDay;

/**
 * Limits on codes for known browsers: one per browser, and one for all known browsers of an address together, because each sign-in creates a new
 * proof.
 */
export const MAILS_PER_KNOWN_BROWSER = LIMITS.signInCodesPerKnownBrowserAndHour;
export const MAILS_FOR_KNOWN_BROWSERS = LIMITS.signInCodesForKnownBrowsersPerAddressAndHour;

interface SentCode {
  readonly mailbox: string | null;
  readonly createdAtMs: number;
}

/**
 * How long a caller must wait before another code is emailed; 0 if it can be emailed now. `sent`: the codes of this purpose from the caller's
 * network, in any order. `times`: how many callers the network counts as.
 */
export function mailWaitMs(
  sent: readonly SentCode[],
  of: { readonly purpose: CodePurpose; readonly mailbox: string; readonly times: number },
  nowMs: number,
): number {
  const toAddress = sent.filter((code) => code.mailbox === of.mailbox);
  const window = { ms: MAIL_WINDOW_MS, nowMs };
  return Math.max(
    waitMs(toAddress, MAILS_PER_ADDRESS[of.purpose] * of.times, window),
    waitMs(sent, MAILS_PER_CALLER * of.times, window),
  );
}

/** Like `mailWaitMs`, for an address and all callers together. `sent`: the counted sign-in codes that were emailed to it, in any order. */
export function addressWaitMs(sent: readonly Pick<SentCode, "createdAtMs">[], nowMs: number): number {
  return waitMs(sent, MAILS_TO_ADDRESS, { ms: ADDRESS_WINDOW_MS, nowMs });
}

/** Like `mailWaitMs`, for a known browser. `sent`: the codes that known browsers requested for the address, in any order. */
export function knownBrowserWaitMs(
  sent: readonly { readonly knownBrowser: string | null; readonly createdAtMs: number }[],
  browser: string,
  nowMs: number,
): number {
  const window = { ms: MAIL_WINDOW_MS, nowMs };
  const own = sent.filter(({ knownBrowser }) => knownBrowser === browser);
  return Math.max(waitMs(own, MAILS_PER_KNOWN_BROWSER, window), waitMs(sent, MAILS_FOR_KNOWN_BROWSERS, window));
}

/** The time until the `limit`-th newest code leaves the window. */
function waitMs(
  sent: readonly Pick<SentCode, "createdAtMs">[],
  limit: number,
  window: { readonly ms: number; readonly nowMs: number },
): number {
  const times = sent.map((code) => code.createdAtMs).toSorted((a, b) => b - a);
  const decisive = times[limit - 1];
  return decisive === undefined ? 0 : Math.max(0, decisive + window.ms - window.nowMs);
}
