// The delay before invoices use a wallet that was registered or enabled. It gives a team time to notice a stolen session, so the thief must not be
// able to end it at once: a shorter delay takes effect only after the longer one has passed.

import { HOUR_MS, isoTime } from "../../lib/time.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";

/** The delay as stored in a merchant's columns. */
export interface WalletChangeDelay {
  readonly walletChangeDelayHours: number;
  /** A requested shorter delay; null if there is none. It may already be in effect. */
  readonly walletChangeDelayNextHours: number | null;
  readonly walletChangeDelayNextFromMs: number | null;
}

/** The delay in effect at `nowMs`, in hours. */
export function delayHoursAt(delay: WalletChangeDelay, nowMs: number): number {
  const next = nextDelay(delay);
  return next !== undefined && next.fromMs <= nowMs ? next.hours : delay.walletChangeDelayHours;
}

/** The shorter delay that is not in effect yet, and when it takes effect. */
export function pendingDelay(
  delay: WalletChangeDelay,
  nowMs: number,
): { readonly hours: number; readonly fromMs: number } | undefined {
  const next = nextDelay(delay);
  return next !== undefined && next.fromMs > nowMs ? next : undefined;
}

/**
 * The columns after a delay of `hours` is requested at `nowMs`; undefined if nothing changes. A longer delay takes effect at once, a shorter one
 * after the current delay has passed. Requesting the current delay cancels a shorter one that is pending.
 */
export function changedDelay(delay: WalletChangeDelay, hours: number, nowMs: number): WalletChangeDelay | undefined {
  const present = delayHoursAt(delay, nowMs);
  const pending = pendingDelay(delay, nowMs);
  if (hours === (pending?.hours ?? present)) return undefined;
  const next = hours < present ? { hours, fromMs: nowMs + present * HOUR_MS } : undefined;
  return {
    walletChangeDelayHours: Math.max(hours, present),
    walletChangeDelayNextHours: next?.hours ?? null,
    walletChangeDelayNextFromMs: next?.fromMs ?? null,
  };
}

/** The delay, for the audit log. */
export function delayFacts(delay: WalletChangeDelay, nowMs: number): AuditFacts {
  const pending = pendingDelay(delay, nowMs);
  return {
    walletChangeDelayHours: delayHoursAt(delay, nowMs),
    "pendingWalletChangeDelay.hours": pending?.hours ?? null,
    "pendingWalletChangeDelay.from": pending === undefined ? null : isoTime(pending.fromMs),
  };
}

/** The delay in words, for an email to the team. A pending shorter delay can be cancelled until it takes effect. */
export function delayText(delay: WalletChangeDelay, nowMs: number): string {
  const pending = pendingDelay(delay, nowMs);
  const present = hours(delayHoursAt(delay, nowMs));
  if (pending === undefined) return present;
  return `${present}, and ${hours(pending.hours)} from ${isoTime(pending.fromMs)} on, until when it can be set back`;
}

function hours(count: number): string {
  return count === 1 ? "1 hour" : `${count} hours`;
}

function nextDelay({ walletChangeDelayNextHours: hours, walletChangeDelayNextFromMs: fromMs }: WalletChangeDelay) {
  return hours === null || fromMs === null ? undefined : { hours, fromMs };
}
