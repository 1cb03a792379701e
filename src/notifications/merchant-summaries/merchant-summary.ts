// A merchant as operators see it: its name, and how much load it causes. No money, and no customer data.
import type { MerchantId } from "../../lib/ids.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";

/** Further deliveries are not counted, so that a merchant with millions of them costs no more. */
export const MOST_DUE = 1_000;

interface MerchantSummary {
  readonly id: MerchantId;
  readonly name: string;
  readonly createdAtMs: number;
  readonly suspendedAtMs: number | null;
  /** Created in the last 24 hours, to a quarter of an hour. */
  readonly invoices: number;
  readonly dueDeliveries: number;
}

export function merchantSummaryOf({ createdAtMs, suspendedAtMs, ...merchant }: MerchantSummary) {
  return { ...merchant, createdAt: isoTime(createdAtMs), suspendedAt: isoTimeOrNull(suspendedAtMs) };
}
