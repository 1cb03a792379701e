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
 * The status that a shop's BTCPay Server plugin gets for a stage, by its name in BTCPay's Greenfield API. Undefined while the status is `New`:
 * plugins are sent only changes to the status, and some treat a status that they do not expect as a failure.
 */
export function modalStatus(stage: Stage): string | undefined {
  return STATUSES[stage];
}
