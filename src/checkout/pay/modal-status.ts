import type { Stage } from "./view.ts";

const STATUSES: Partial<Record<Stage, "Processing" | "Settled" | "Expired" | "Invalid">> = {
  seen: "Processing",
  paid: "Settled",
  overpaid: "Settled",
  underpaid: "Expired",
  expired: "Expired",
  cancelled: "Invalid",
};

/**
 * The status that a shop's plugin for BTCPay Server gets for a stage, by its name in BTCPay's Greenfield API. Undefined while that is `New`: plugins only get
 * changes, and some treat any other word as a failure.
 */
export function modalStatus(stage: Stage): string | undefined {
  return STATUSES[stage];
}
