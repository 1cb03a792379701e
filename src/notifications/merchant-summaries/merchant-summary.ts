// A merchant as operators see it: its name, and how much load it causes. No money, and no customer data.
import type { MerchantId } from "../../lib/ids.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";

/** At most this many deliveries are counted, so that a merchant with millions of them costs no more. */
export const MOST_DUE = 1_000;

interface MerchantSummary {
  readonly id: MerchantId;
  readonly name: string;
  readonly createdAtMs: number;
  readonly suspendedAtMs: number | null;
  /** How many invoices were created in the last 24 hours. They are counted by whole quarter-hours. */
  readonly invoices: number;
  readonly dueDeliveries: number;
}

export function merchantSummaryOf({ createdAtMs, suspendedAtMs, ...merchant }: MerchantSummary) {
  return { ...merchant, createdAt: isoTime(createdAtMs), suspendedAt: isoTimeOrNull(suspendedAtMs) };
}
