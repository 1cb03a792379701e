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
 * The status that a shop's plugin for BTCPay Server hears of a stage, in the words of BTCPay's Greenfield API. Undefined while that is `New`: plugins
 * are told of changes alone, and some take any other word for a failure.
 */
export function modalStatus(stage: Stage): string | undefined {
  return STATUSES[stage];
}
