// Decides when a visit changes a customer's stored location. Anyone with an invoice's link can open its page as often as they like, alternating
// between two countries, so changes are limited: at most `locationChangesPerCustomerAndHour` in a row, and the allowance refills within an hour.
import type { GeoLocation } from "../../lib/geo-location.ts";
import { LIMITS } from "../../lib/limits.ts";

const HOUR_MS = 3_600_000;

/** The time after which one more change is allowed. */
export const CHANGE_EVERY_MS = HOUR_MS / LIMITS.locationChangesPerCustomerAndHour;
/** A change is allowed if the allowance would be full again within this time. */
export const ALLOWANCE_LEFT_MS = HOUR_MS - CHANGE_EVERY_MS;

export interface KeptLocation extends GeoLocation {
  readonly visitedAtMs: number;
  readonly allowanceFullAtMs: number;
}

/** Whether a visit at `nowMs` should be written: its location differs from the stored one, and the allowance is not used up. */
export function changesLocation(kept: KeptLocation | null, visit: GeoLocation, nowMs: number): boolean {
  if (kept === null) return true;
  if (kept.country === visit.country && kept.city === visit.city) return false;
  return kept.allowanceFullAtMs <= nowMs + ALLOWANCE_LEFT_MS;
}
