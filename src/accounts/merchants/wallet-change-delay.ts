// How long a wallet that is registered or enabled waits before invoices use it. The delay gives a team time to notice a stolen session, so
// the thief must not be able to end it at once: a shorter delay takes effect only when the longer one has passed.

import { HOUR_MS, isoTime } from "../../lib/time.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";

/** The delay as a merchant's columns hold it. */
export interface WalletChangeDelay {
  readonly walletChangeDelayHours: number;
  /** The shorter delay that comes next; null where none was asked for. It may be in force already. */
  readonly walletChangeDelayNextHours: number | null;
  readonly walletChangeDelayNextFromMs: number | null;
}

/** The delay in force at `nowMs`, in hours. */
export function delayHoursAt(delay: WalletChangeDelay, nowMs: number): number {
  const next = nextDelay(delay);
  return next !== undefined && next.fromMs <= nowMs ? next.hours : delay.walletChangeDelayHours;
}

/** The shorter delay that is not in force yet, and from when on it is. */
export function pendingDelay(
  delay: WalletChangeDelay,
  nowMs: number,
): { readonly hours: number; readonly fromMs: number } | undefined {
  const next = nextDelay(delay);
  return next !== undefined && next.fromMs > nowMs ? next : undefined;
}

/**
 * The columns once a delay of `hours` is asked for at `nowMs`; undefined where it changes nothing. A longer delay is in force at once, a
 * shorter one when the delay in force has passed. The delay in force itself takes back a shorter one that waits.
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

/** For the audit log. */
export function delayFacts(delay: WalletChangeDelay, nowMs: number): AuditFacts {
  const pending = pendingDelay(delay, nowMs);
  return {
    walletChangeDelayHours: delayHoursAt(delay, nowMs),
    "pendingWalletChangeDelay.hours": pending?.hours ?? null,
    "pendingWalletChangeDelay.from": pending === undefined ? null : isoTime(pending.fromMs),
  };
}

function nextDelay({ walletChangeDelayNextHours: hours, walletChangeDelayNextFromMs: fromMs }: WalletChangeDelay) {
  return hours === null || fromMs === null ? undefined : { hours, fromMs };
}
